#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each public overload has a comment of its own, every other public name and parameter has a meaning, and every link
of the reference's pages leads to a file.

Writes the input for Doxygen, but does not run Doxygen. `--self-test` does this for small headers, correct and wrong
ones.
"""

import pathlib
import sys
import tempfile

import toolbox

sys.path.insert(0, str(toolbox.ROOT / "cmake" / "docs"))
import declarations  # noqa: E402
import finish  # noqa: E402
import pages  # noqa: E402
import reference  # noqa: E402

TABLE = """
## Parameters

| name | place | meaning |
|---|---|---|
| `d_temp_storage` | | device memory |
| `temp_storage_bytes` | | its bytes |
| `d_in` | | the items |
| `d_in` | `DeviceThing::Sorted` | the sorted items |
| `stream` | | the stream |
| `where` | | where the call works |

## Members

| name | place | meaning |
|---|---|---|
| `TempStorage` | | Type of the memory. |
"""

CLASS = """
STRATA_NAMESPACE_BEGIN
namespace detail {
/// Of the library.
struct hidden {};
}  // namespace detail

/// Does things. In steps:
///
/// - one
///
///     in[i] = out[i];
///
/// @since 0.2
struct DeviceThing {
  struct TempStorage : detail::hidden {};

  /// Makes one.
  static detail::if_count<int> Make(void* d_temp_storage, std::size_t& temp_storage_bytes, const int* d_in,
                                    cudaStream_t stream = 0) { return make(d_in, stream); }
  /// Makes one of nothing.
  static cudaError_t Make(void* d_temp_storage, std::size_t& temp_storage_bytes, cudaStream_t stream = 0);
  STRATA_CALL_WITHOUT_STORAGE(Make)

 private:
  static cudaError_t make(const int* d_in, cudaStream_t);
};
STRATA_NAMESPACE_END
"""


def made(text):
    """The input for Doxygen that is made from a header, and the errors."""
    header = reference.Header(pathlib.Path("strata/device/device_thing.cuh"), "device", None, reference.Table(TABLE),
                              pages.Links({"DeviceThing": "device"}, {"DeviceThing": {"Make"}}))
    written = header.write(declarations.declarations_of(text)[0])
    return written, header.errors


def expect(is_right, what, found):
    if not is_right:
        toolbox.fail(f"{what}: {found}")


def self_test():
    written, errors = made(CLASS)
    expect(not errors, "a right header has no errors", errors)
    expect(written.count("@brief Makes one.") == 1 and written.count("@brief Makes one of nothing.") == 1,
           "each overload has its comment", written)
    expect(written.count("@param d_in the items") == 1, "a parameter has its meaning", written)
    expect("DeviceThing::Make(d_in, where)" in written and "DeviceThing::Make(where)" in written,
           "the forms without storage", written)
    expect("hidden" not in written and "make(" not in written, "what is not public is not there", written)
    expect("@code{.cpp}\n/// in[i] = out[i];\n/// @endcode" in written, "code after a list is a block", written)
    expect("/// @since 0.2\n" in written, "the version since which there is a class", written)
    expect("@brief Does things.\n" in written, "the first sentence is the brief description", written)

    for what, old, new, error in (
            ("a parameter without a meaning", "cudaStream_t stream = 0);", "cudaStream_t s = 0);", "meaning of s in"),
            ("a template parameter without a meaning", "static cudaError_t Make(", "template <class K>\n"
             "  static cudaError_t Make(", "meaning of K"),
            ("a function without a comment", "  /// Makes one.\n", "", "DeviceThing::Make has no comment"),
            ("two overloads with one comment", "Makes one of nothing.", "Makes one.", "the comment of another"),
            ("an overload without a comment", "  /// Makes one of nothing.\n", "", "DeviceThing::Make has no comment"),
            ("a class without a comment", CLASS[CLASS.index("/// Does"):CLASS.index("struct DeviceThing")], "",
             "DeviceThing has no comment"),
            ("a name of the library in a signature", "const int* d_in,", "detail::hidden d_in,", "detail::")):
        expect(old in CLASS, what, "not in the example")
        errors = made(CLASS.replace(old, new, 1))[1]
        expect(len(errors) >= 1 and error in errors[0], what, errors)

    of_ranks = CLASS.replace("STRATA_CALL_WITHOUT_STORAGE", "STRATA_CALL_OF_RANK_WITHOUT_STORAGE")
    expect(made(of_ranks) == (written, []), "forms without storage of calls of ranks", made(of_ranks))
    try:
        expect(False, "a declaration without an end is an error", made("/// Text.\nstruct X {\n  UNKNOWN(Make)\n};\n"))
    except declarations.ParseError as error:
        expect("the file ends in a declaration" in str(error), "a declaration without an end is an error", error)

    table = reference.Table(TABLE)
    expect(table.meaning("parameters", "d_in", "DeviceThing::Sorted") == "the sorted items", "the longest place holds",
           table.rows)
    expect(any("`where`" in line for line in table.unused()), "rows that nothing needs are found", table.unused())

    links = pages.Links({"DeviceThing": "device"}, {"DeviceThing": {"Make"}})
    page = pages.Page(toolbox.ROOT, "README.md", "# A `B`\n\nSee [x](LICENSE), [y](no/file.md), `DeviceThing`.\n\n"
                      "- item\n\n      code\n", links, ["README.md"])
    text = page.converted()
    expect(text.startswith("# A B {#mainpage}"), "the anchor of a title", text)
    expect(len(page.errors) == 1 and "no/file.md" in page.errors[0], "a link to no file is an error", page.errors)
    expect('@ref strata::DeviceThing "DeviceThing"' in text, "a name is a link", text)
    expect("@code{.unparsed}\ncode\n@endcode" in text, "code of a list is a block", text)

    expect(finish.endings("DeviceRadixSort") == ["DeviceRadixSort", "RadixSort", "Sort"], "endings of a name",
           finish.endings("DeviceRadixSort"))
    found = list(finish.findings({"a.html": '<a href="b.html">x</a> <a href="#y">y</a> <b>**z**</b> <tt>**</tt>'},
                                 lambda name: False))
    expect(len(found) == 4, "a missing file, a missing anchor, two marks", found)
    index = finish.index_of([["blockscan_0", ["BlockScan", ["a.html", 1, ""]]]])
    expect(sorted(index) == ["b", "s"] and "'scan_1'" in index["s"][0], "parts of names are found", index)


def main():
    if toolbox.wants_self_test(__doc__):
        self_test()
        return
    with tempfile.TemporaryDirectory() as folder:
        errors = reference.write_reference(pathlib.Path(folder) / "reference")
    if errors:
        toolbox.fail("\n".join(errors))


if __name__ == "__main__":
    main()
