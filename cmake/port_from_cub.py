#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ports sources from CUB to strata, by the table include/strata/from_cub.md.

Exchanges includes and names in place, and prints a line `FILE:LINE: ...` for what is left to do by hand: names that
have no counterpart, which stay as they are; guards by CUB_VERSION and CCCL_VERSION, which choose the code for old
versions once CUB's headers are gone; headers of libcu++ and Thrust that came along with CUB's. Comments and strings are
not changed.

    port_from_cub.py FILE...            exchanges
    port_from_cub.py --check FILE...    prints what would change, and changes nothing
    port_from_cub.py --differences ...  also prints what behaves differently of what the files use

The exit status is 0 if nothing is left to do by hand, with --check if nothing would change either; else 1. Needs Python
3.9 and nothing else.
"""

import argparse
import difflib
import pathlib
import re
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[1] / "include"
TABLE = INCLUDE / "strata" / "from_cub.md"
# Enumerators, and types of enumerations, are the same: the table does not list them.
ENUMERATION = r"(?:BLOCK|WARP|LOAD|STORE|RADIX|GRID)_\w+|\w+(?:Algorithm|Modifier)"
GUARD = r"\b(?:CUB|CCCL|THRUST)_(?:MAJOR_|MINOR_|SUBMINOR_|PATCH_)?VERSION\b"

# Headers of libcu++ and Thrust for names that CUB's headers bring along.
HEADERS_OF = {
    "cuda/std/limits": "numeric_limits",
    "cuda/std/functional": "plus minus multiplies divides modulus negate logical_and logical_or logical_not bit_and "
                           "bit_or bit_xor equal_to not_equal_to less less_equal greater greater_equal identity invoke "
                           "not_fn",
    "cuda/std/type_traits": "is_same is_same_v enable_if enable_if_t conditional conditional_t decay_t remove_cv_t "
                            "remove_cvref_t remove_reference_t is_integral is_integral_v is_floating_point is_pointer "
                            "is_floating_point_v is_arithmetic_v is_trivially_copyable true_type false_type void_t "
                            "is_unsigned_v is_signed_v make_unsigned_t make_signed_t invoke_result_t is_convertible_v "
                            "integral_constant bool_constant underlying_type_t common_type_t is_void_v is_enum_v",
    "cuda/std/utility": "pair make_pair move forward swap exchange index_sequence make_index_sequence declval "
                        "integer_sequence",
    "cuda/std/tuple": "tuple make_tuple tie get tuple_size tuple_size_v tuple_element tuple_element_t apply",
    "cuda/std/array": "array",
    "cuda/std/span": "span",
    "cuda/std/optional": "optional nullopt",
    "cuda/std/complex": "complex",
    "cuda/std/bit": "bit_cast popcount countl_zero countr_zero bit_ceil bit_floor bit_width has_single_bit",
    "cuda/std/cstdint": "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t uintptr_t",
    "cuda/std/cstddef": "size_t ptrdiff_t byte nullptr_t",
    "cuda/std/cmath": "isnan isinf sqrt abs ceil floor exp log pow",
    "cuda/std/algorithm": "min max clamp lower_bound upper_bound sort",
    "cuda/std/iterator": "iterator_traits distance advance next prev reverse_iterator make_reverse_iterator",
    "cuda/std/mdspan": "mdspan extents dextents",
    "cuda/std/execution": "execution",
}
CUDA_HEADERS_OF = {
    "cuda/functional": "maximum minimum proclaim_return_type proclaim_copyable_arguments",
    "cuda/cmath": "ceil_div round_up round_down ilog2 is_power_of_two",
    "cuda/atomic": "atomic atomic_ref",
    "cuda/barrier": "barrier",
    "cuda/pipeline": "pipeline",
    "cuda/stream_ref": "stream_ref get_stream get_stream_t",
    "cuda/argument": "args",
    "cuda/execution": "execution",
    "cuda/memory_resource": "mr",
    "cuda/memory_pool": "device_memory_pool device_memory_pool_ref device_default_memory_pool",
    "cuda/iterator": "counting_iterator make_counting_iterator constant_iterator discard_iterator transform_iterator "
                     "make_transform_iterator zip_iterator permutation_iterator strided_iterator",
}
THRUST_HEADERS_OF = {
    "thrust/pair.h": "pair make_pair",
    "thrust/tuple.h": "tuple make_tuple",
    "thrust/functional.h": "plus minus multiplies maximum minimum identity less greater",
    "thrust/complex.h": "complex",
    "thrust/device_vector.h": "device_vector",
    "thrust/device_ptr.h": "device_ptr device_pointer_cast raw_pointer_cast",
    **{f"thrust/iterator/{name}_iterator.h": f"{name}_iterator make_{name}_iterator"
       for name in ("counting", "constant", "transform", "transform_output", "zip", "discard", "permutation",
                    "reverse")},
}


class Table:
    """The tables of from_cub.md, with rows `name | functions | verdict | remark`; of headers without functions."""

    def __init__(self, text):
        self.headers, self.names = {}, {}
        for line in text.splitlines():
            # A vertical bar of a remark is written `\|`.
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) not in (3, 4) or not re.fullmatch(r"`[^`]+`", cells[0]):
                continue
            name = cells[0].strip("`")
            if len(cells) == 3:
                self.headers[name] = (cells[1], cells[2])
                continue
            functions = re.findall(r"`([^`]+)`", cells[1])
            for each in [f"{name}::{function}" for function in functions] or [name]:
                self.names[each] = (cells[2], cells[3])
            self.names.setdefault(name, ("same", ""))
        if not self.headers or not self.names:
            raise SystemExit("port_from_cub.py: the table has no rows")

    def remark_of(self, name, remarks):
        """The remark of a row; `as X` stands for the remark of X."""
        verdict, remark = remarks[name]
        same = re.fullmatch(r"as `([\w:]+)`", remark)
        if same and self.names.get(same.group(1), ("", ""))[0] == verdict:
            return self.remark_of(same.group(1), self.names)
        return remark


def blanked(text):
    """The text with blanks for comments and literals, so that lines keep their lengths. Names of headers stay."""
    pattern = (r'(?P<include>^[ \t]*#[ \t]*include[^\n]*)|//(?:\\\n|[^\n])*|/\*.*?\*/|'
               r'R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'')
    def blank(match):
        return match.group(0) if match.group("include") else re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(pattern, blank, text, flags=re.DOTALL | re.MULTILINE)


class Port:
    """One source: `text` is the ported source, `reports` are pairs of a line and what is left to do there."""

    def __init__(self, source, table, declared):
        self.source, self.table, self.declared = source, table, declared
        self.code = blanked(source)
        self.edits, self.reports, self.differences = [], [], {}
        self.includes_cub = re.search(r'^[ \t]*#[ \t]*include[ \t]*[<"]cub/', self.code, re.MULTILINE) is not None
        self.exchange_includes()
        self.exchange_names()
        self.exchange_macros()
        self.report_guards()
        if self.includes_cub:
            self.report_headers()
        self.text = source
        for begin, end, new in sorted(self.edits, reverse=True):
            self.text = self.text[:begin] + new + self.text[end:]
        self.reports = sorted(set(self.reports))

    def report(self, position, text):
        self.reports.append((self.code.count("\n", 0, position) + 1, text))

    def report_absent(self, position, what, remark):
        self.report(position, f"{what} has no counterpart" + (f": {remark}" if remark else ""))

    def exchange_includes(self):
        for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])(cub/[^>"\n]+)[>"]', self.code, re.MULTILINE):
            begin, end, name = match.start(1), match.end(), match.group(2)
            verdict, _ = self.table.headers.get(name, ("same", ""))
            if verdict == "absent":
                self.report_absent(begin, f"<{name}>", self.table.remark_of(name, self.table.headers))
                continue
            is_public = re.fullmatch(r"cub/(?:(?:block|device|iterator|thread|warp)/)?\w+\.cuh", name)
            if verdict == "same" and not is_public:
                self.report_absent(begin, f"<{name}>", "internals of CUB are not public")
                continue
            self.edits.append((begin, end, f"<{verdict.strip('`')}>" if verdict != "same" else f"<strata/{name[4:]}>"))

    def exchange_names(self):
        names = re.findall(r"\bnamespace[ \t]+(\w+)[ \t]*=[ \t]*(?:::[ \t]*)?cub[ \t]*;", self.code)
        aliases = "|".join(["cub", *sorted(set(names) - {"cub"})])
        # x::cub:: is a copy of CUB in another namespace, and stays.
        name = rf"({aliases})[ \t]*::[ \t\n]*(\w+)(?:[ \t]*::[ \t]*(\w+))?"
        for match in re.finditer(rf"(?<![\w:.])((?:::[ \t]*)?){name}", self.code):
            self.exchange_name(match)
        for match in re.finditer(r"\b\w+::[ \t]*cub[ \t]*::", self.code):
            self.report(match.start(), f"{match.group(0)} is a wrapped copy of CUB: STRATA_NAMESPACE_WRAP does that")
        whole = r"(?:using[ \t]+namespace|namespace[ \t]+\w+[ \t]*=)[ \t]*(?:::[ \t]*)?(cub)[ \t]*;"
        for match in re.finditer(rf"\b{whole}", self.code):
            self.edits.append((match.start(1), match.end(1), "strata"))
        for match in re.finditer(r"\bnamespace[ \t]+cub[ \t]*(?:::[ \t]*\w+[ \t]*)*\{", self.code):
            self.report(match.start(), "namespace cub is reopened: write specialisations for strata anew, such as of "
                                       "RadixTraits or is_trivially_relocatable")

    def exchange_name(self, match):
        name, function = match.group(3), match.group(4) or ""
        position = match.start(3)
        whole = f"{name}::{function}" if function and f"{name}::{function}" in self.table.names else name
        shown = f"cub::{whole}"
        if whole in self.table.names:
            verdict, _ = self.table.names[whole]
            if verdict == "absent":
                self.report_absent(position, shown, self.table.remark_of(whole, self.table.names))
                return
            if verdict == "different":
                self.differences.setdefault(f"strata::{whole}", self.table.remark_of(whole, self.table.names))
            if verdict.startswith("`"):
                self.edits.append((match.start(3), match.end(3), verdict.strip("`")))
        elif name in ("detail", "internal"):
            self.report_absent(position, f"cub::{name}", "internals of CUB are not public")
            return
        elif not re.fullmatch(ENUMERATION, name) and not self.declared(name):
            self.report_absent(position, shown, "")
            return
        if match.group(2) == "cub":
            self.edits.append((match.start(2), match.end(2), "strata"))

    def exchange_macros(self):
        for match in re.finditer(r"\bCUB_\w+|\bCub[A-Z]\w+(?=\()", self.code):
            name = match.group(0)
            if re.fullmatch(GUARD, name):
                continue
            verdict, _ = self.table.names.get(name, ("absent", ""))
            remark = self.table.remark_of(name, self.table.names) if name in self.table.names else ""
            if name == "CUB_RUNTIME_FUNCTION" and not re.match(r"[^(){};]*\boperator\b", self.code[match.end():]):
                self.report(match.start(), f"{name} is not on an operator: {remark}")
            elif verdict.startswith("`"):
                self.edits.append((match.start(), match.end(), verdict.strip("`")))
            elif name in self.table.names or name.startswith("CUB_"):
                self.report_absent(match.start(), name, remark)

    def report_guards(self):
        condition = r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b(?:[^\n\\]|\\\n|\\.)*"
        for match in re.finditer(condition, self.code, re.MULTILINE):
            for guard in sorted(set(re.findall(GUARD, match.group(0)))):
                header = "cub/version.cuh" if guard.startswith("CUB") else "cuda/version"
                if guard.startswith("THRUST"):
                    header = "thrust/version.h"
                # A guard that includes its header needs no report.
                if not re.search(rf'#[ \t]*include[ \t]*[<"]{header}[>"]', self.code):
                    self.report(match.start(), f"{guard} is not defined without CUB's headers, and the branch for old "
                                               f"versions is taken: keep the right branch, or include <{header}>")

    def report_headers(self):
        included = set(re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)', self.code, re.MULTILINE))
        wanted = {}
        for space, headers in ((r"cuda[ \t]*::[ \t]*std", HEADERS_OF), ("cuda", CUDA_HEADERS_OF),
                               ("thrust", THRUST_HEADERS_OF)):
            places = {name: header for header, names in headers.items() for name in names.split()}
            for match in re.finditer(rf"(?<![\w:])(?:::[ \t]*)?{space}[ \t]*::[ \t]*(\w+)", self.code):
                header = places.get(match.group(1))
                # <cuda/execution> has parts: <cuda/execution.require.h>, and before 3.5 <cuda/__execution/require.h>.
                parts = re.compile(rf"{header}(?:\.\w+\.h)?|{(header or '').replace('/', '/__')}/\w+\.h")
                if header and not any(parts.fullmatch(each) for each in included):
                    text = re.sub(r"\s", "", match.group(0)).lstrip(":")
                    wanted.setdefault(header, (match.start(), text))
        for header, (position, text) in wanted.items():
            self.report(position, f"{text} came along with CUB: add #include <{header}>")
        for match in re.finditer(r"\bcuda[ \t]*::[ \t]*execution[ \t]*::[ \t]*tune\b", self.code):
            self.report(match.start(), "cuda::execution::tune is ignored: it is for kernels of CUB, and "
                                       "strata::TunedDeviceReduce<hub> and so on take tunings of strata")
        batched = re.search(r"(?<!\w)DeviceBatchedTopK\b", self.code)
        if batched and not re.search(r"/device/device_batched_top_?k\.cuh|strata/cub\.cuh", " ".join(included)):
            self.report(batched.start(), "DeviceBatchedTopK is not in <strata/strata.cuh>: add #include "
                                         "<strata/device/device_batched_topk.cuh>")
        limits = r"\btemplate[ \t]*<[^;{}]*>\s*(?:struct|class)[ \t]+(?:::)?(?:cuda::std::)?numeric_limits[ \t]*<"
        for match in re.finditer(limits, self.code):
            if not re.search(r"\bcuda\b", self.code[:match.end()]) or "strata/core/cuda_std_limits.hpp" in included:
                continue
            self.report(match.start(), "reductions ask cuda::std::numeric_limits of a type if you add #include "
                                        "<strata/core/cuda_std_limits.hpp>")


class Declared:
    """True if the headers of strata declare a name, for names that the table of one version of CUB does not have."""

    def __init__(self, folder):
        self.folder, self.names = folder, None

    def __call__(self, name):
        if self.names is None:
            type_name = "(?:struct|class|enum class|enum|using) +"
            function = r"(?:STRATA_HD|STRATA_D|inline) [^(=;]*?\b"
            pattern = re.compile(rf"^(?:{type_name}|{function})(\w+)(?= *[(={{:;<\n])", re.MULTILINE)
            texts = (path.read_text(encoding="utf-8") for path in sorted(self.folder.glob("*/*.*"))
                     if path.suffix in (".hpp", ".cuh"))
            self.names = {found for text in texts for found in pattern.findall(text)}
        return name in self.names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--check", action="store_true", help="print what would change, and change nothing")
    parser.add_argument("--differences", action="store_true", help="print what behaves differently, too")
    parser.add_argument("--table", type=pathlib.Path, default=TABLE, help="another from_cub.md")
    arguments = parser.parse_args()
    table = Table(arguments.table.read_text(encoding="utf-8"))
    declared = Declared(arguments.table.parent)
    status = 0
    for path in arguments.files:
        # Line ends, and bytes that are no UTF-8, stay as they are.
        source = path.read_bytes().decode("utf-8", "surrogateescape")
        port = Port(source, table, declared)
        if arguments.check and port.text != source:
            status = 1
            before, after = source.splitlines(), port.text.splitlines()
            lines = difflib.unified_diff(before, after, str(path), str(path), n=0, lineterm="")
            print(*(line.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for line in lines), sep="\n")
        elif port.text != source:
            path.write_bytes(port.text.encode("utf-8", "surrogateescape"))
        for line, text in port.reports:
            status = 1
            print(f"{path}:{line}: {text}")
        for name, remark in sorted(port.differences.items() if arguments.differences else ()):
            print(f"{path}: {name} is different: {remark}")
    return status


if __name__ == "__main__":
    sys.exit(main())
