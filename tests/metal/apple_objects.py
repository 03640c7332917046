#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the headers, and the tests for a Mac, for macOS by clang, without Apple's SDK.

Checks that objects are Mach-O, and which symbols of Apple's libraries they need. The C++ headers are libc++'s, if it is
installed, as on a Mac. The C headers are this machine's, so a function that macOS lacks is found by its symbol. Headers
that are broken on purpose must be noticed.
"""

import argparse
import pathlib
import platform
import shutil
import struct
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = TESTS.parent / "include"

CALL = """#include <strata/device/device_hash_join.hpp>
int join(void* storage, std::size_t& bytes, const int* keys, const std::uint64_t* wide, int* out,
         std::int64_t* total, void* queue) {
  const int status = strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(keys, 9),
                                                   strata::join_side(keys + 9, 9),
                                                   strata::join_pairs(out, out + 9, 9), total);
#if STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_METAL
  if (status != 0) return *strata::metal_join_error_text();
  return strata::DeviceHashJoin::Anti(storage, bytes, strata::join_side(wide, 9), strata::join_side(wide + 9, 9),
                                      strata::join_count(), total, {}, queue);
#else
  return status + (queue != nullptr) + (wide != nullptr);
#endif
}
"""
APPLE_SYMBOLS = {"_objc_msgSend", "_sel_registerName", "_objc_lookUpClass", "_objc_autoreleasePoolPush",
                 "_objc_autoreleasePoolPop", "_MTLCreateSystemDefaultDevice", "_MTLCopyAllDevices"}
# Other C symbols that an object may need. macOS has them all, except for __pthread_key_create, which is libstdc++'s.
C_SYMBOLS = {"_memcpy", "_memset", "_memmove", "_memcmp", "_bzero", "_strlen", "_snprintf", "_sysconf",
             "_pthread_create", "_pthread_setspecific", "_pthread_mutex_lock", "_pthread_mutex_unlock",
             "__Unwind_Resume", "___dso_handle", "___stack_chk_fail", "___stack_chk_guard", "__tlv_bootstrap",
             "___pthread_key_create", "___bzero"}
# Breaks of a header: file, old text, new text, and what the complaint must contain.
BROKEN = [
    ("strata/device/join/metal/objc.hpp", "__asm__(STRATA_DETAIL_TEXT(__USER_LABEL_PREFIX__) name)",
     "__asm__(name)", "objc_msgSend"),
    ("strata/device/join/metal/objc.hpp", 'retain{"retain"}', 'retain{"retain:"}', "selector_and_signature_disagree"),
    ("strata/device/device_hash_join.hpp", "defined(__APPLE__)", "defined(__OTHER__)", "_objc_msgSend"),
    ("strata/device/join/metal/memory.hpp", "sysconf(_SC_PAGESIZE)", "getauxval(6)", "getauxval"),
    ("strata/device/join/metal/memory.hpp", "#include <cstring>", "#include <cstring>\n#include <Metal/Metal.h>",
     "Metal/Metal.h"),
]
# The header of GoogleTest includes these, for macros that it does not need here.
OF_GTEST = {"TargetConditionals.h": "#define TARGET_OS_MAC 1\n#define TARGET_OS_IPHONE 0\n",
            "AvailabilityMacros.h": ""}
DEVICE_TESTS = ["metal/metal_join_test.cpp", "metal/metal_conformance_test.cpp", "metal/metal_class_test.cpp",
                "device/join/device_hash_join_host_test.cpp"]


def system_folders(cxx):
    """Where the host's compiler looks for headers, without the folders of the compiler itself."""
    said = subprocess.run([cxx, "-E", "-x", "c++", "-v", "/dev/null"], text=True, capture_output=True).stderr
    lines = said.split("<...> search starts here:")[-1].split("End of search list")[0].split()
    return [line for line in lines if "/lib/gcc" not in line and "/lib/clang" not in line]


class AppleCompiler:
    def __init__(self, clang, cxx, folder):
        self.clang = clang
        self.folder = folder
        self.folders = system_folders(cxx)
        libcxx = sorted(pathlib.Path("/usr/lib").glob("llvm-*/include/c++/v1"))
        self.of_apple = self.folders
        if libcxx:
            self.of_apple = [libcxx[-1]] + [f for f in self.folders if "c++" not in f]

    def compile(self, source, arguments, target="arm64-apple-macos14", include=INCLUDE, folders=None):
        """Returns what is wrong, or an empty text. The object is folder/out.o."""
        # For macOS, __nonnull is a keyword of clang, but in glibc a macro. glibc's headers depend on the processor.
        command = [self.clang, "--target=" + target, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-U__nonnull",
                   "-D_GNU_SOURCE", "-nostdinc++", "-I", include, "-I", TESTS, source, "-o", self.folder / "out.o"]
        if platform.machine() == "x86_64":
            command.append("-D__x86_64__")
        for folder in folders or self.of_apple:
            command += ["-isystem", folder]
        done = subprocess.run(command + arguments, text=True, capture_output=True)
        return "" if done.returncode == 0 else done.stderr

    def call(self, arguments=(), **how):
        """Compiles calls of the class. Returns what is wrong, and the symbols that the object does not define."""
        source = self.folder / "call.cpp"
        source.write_text(CALL)
        why = self.compile(source, ["-c", *arguments], **how)
        return (why, set()) if why else undefined_symbols((self.folder / "out.o").read_bytes())


def undefined_symbols(data):
    """Returns what is wrong with an object, and its undefined symbols."""
    magic, processor, _, kind, commands = struct.unpack_from("<5I", data)
    if magic != 0xfeedfacf or kind != 1 or processor not in (0x0100000c, 0x01000007):
        return "no 64-bit Mach-O object for arm64 or x86-64", set()
    symbols, at, platforms = set(), 32, []
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", data, at)
        if command == 0x32:  # LC_BUILD_VERSION
            platforms.append(struct.unpack_from("<I", data, at + 8)[0])
        if command == 2:  # LC_SYMTAB
            first, count, strings, _ = struct.unpack_from("<4I", data, at + 8)
            for i in range(count):
                name, what, _, _, value = struct.unpack_from("<IBBHQ", data, first + 16 * i)
                if what & 0x0e == 0 and what & 1 and value == 0:
                    begin = strings + name
                    symbols.add(data[begin:data.index(b"\0", begin)].decode())
        at += size
    return ("" if platforms in ([1], []) else "not for macOS"), symbols


def wrong_symbols(symbols):
    """The symbols that a call over Metal needs and should not, or should need and does not."""
    missing = APPLE_SYMBOLS - symbols
    other = {s for s in symbols - APPLE_SYMBOLS - C_SYMBOLS
             if not s.startswith("__Z") and not s.startswith("___cxa") and "personality" not in s}
    return " ".join((["missing:", *sorted(missing)] if missing else []) +
                    (["unknown on macOS:", *sorted(other)] if other else []))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--cxx", default="c++")
    arguments = parser.parse_args()
    failures = []

    def expect(what, why):
        print(f"{'FAILED' if why else 'ok':6} {what}", flush=True)
        if why:
            failures.append(f"{what}: {why[:1500]}")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compiler = AppleCompiler(arguments.clang, arguments.cxx, folder)
        print("C++ library:", "libc++" if compiler.of_apple is not compiler.folders else "libstdc++ (no libc++ here)")
        for target in ["arm64-apple-macos14", "x86_64-apple-macos13"]:
            why, symbols = compiler.call(target=target)
            expect(f"the class by Metal, {target}", why or wrong_symbols(symbols))
        expect("the class by Metal without exceptions", compiler.call(["-fno-exceptions", "-fno-rtti"])[0])
        why, symbols = compiler.call(["-DSTRATA_JOIN_BACKEND=HOST"])
        expect("the class by the host has nothing of Metal",
               why or " ".join(s for s in symbols if s in APPLE_SYMBOLS or "objc" in s.lower()))

        headers = sorted((INCLUDE / "strata" / "device" / "join" / "metal").glob("*.hpp"))
        everything = folder / "everything.cpp"
        everything.write_text("".join(f"#include <{h.relative_to(INCLUDE)}>\n" for h in headers))
        expect(f"{len(headers)} headers in one file",
               compiler.compile(everything, ["-c"]) if headers else "there are none")

        for file, text in OF_GTEST.items():
            (folder / file).write_text("#pragma once\n" + text)
        for test in DEVICE_TESTS:
            # Only the syntax, because libc++'s streams need more of Apple's C library than is available here.
            expect(f"{test}, to be run on a Mac",
                   compiler.compile(TESTS / test, ["-fsyntax-only", "-DSTRATA_JOIN_BACKEND=METAL",
                                                   "-isystem", folder], folders=compiler.folders))

        broken = folder / "broken"
        shutil.copytree(INCLUDE / "strata", broken / "strata")
        for file, old, new, complaint in BROKEN:
            path = broken / file
            text = path.read_text()
            if old not in text:
                failures.append(f"{file}: '{old}' is no longer there")
                continue
            path.write_text("#include <sys/auxv.h>\n" * ("getauxval" in new) + text.replace(old, new, 1))
            why, symbols = compiler.call(include=broken)
            why = why or wrong_symbols(symbols)
            path.write_text(text)
            expect(f"noticed: {new.splitlines()[-1]}", "" if complaint in why else f"'{why}'")
    if failures:
        sys.exit("FAILED: " + "\n".join(failures))


if __name__ == "__main__":
    main()
