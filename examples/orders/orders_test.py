#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/orders with its own host computation, and with a model of tables and query.

    orders_test.py <path of the program>
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import testing
from testing import expect, run

MASK = 2**64 - 1
DAYS, LONGEST_WAIT = 2557, 121
STAGES = ["select orders", "select line items", "join", "add up by customer", "sort by customer",
          "sort by charge"]
ROW = re.compile(r"(\D+?) +([\d,]+) +([\d,]+) +([\d.]+) (#*)$")
CHECKED = re.compile(r"orders: (\d+) customers: as by the host$", re.MULTILINE)


# ------------------------------------------------------------------------------ what is right
class Data:
    """The tables, as examples/orders/tables.hpp makes them."""

    def __init__(self, line_items, seed=20261122):
        self.line_items, self.seed = line_items, seed
        self.orders = (line_items + 3) // 4
        self.customers = (self.orders + 9) // 10

    def random(self, place):
        bits = (self.seed + (place + 1) * 0x9e3779b97f4a7c15) & MASK
        bits = ((bits ^ bits >> 30) * 0xbf58476d1ce4e5b9) & MASK
        bits = ((bits ^ bits >> 27) * 0x94d049bb133111eb) & MASK
        return bits ^ bits >> 31

    def order(self, number):
        """Customer, priority, day."""
        bits = self.random(2 * number)
        uniform = bits & 0xffffffff
        rank = (uniform * uniform >> 32) * self.customers >> 32
        return (rank * 2654435761 % self.customers, 1 + ((bits >> 32 & 0xffff) * 5 >> 16),
                (bits >> 48) * (DAYS - LONGEST_WAIT) >> 16)

    def line_item(self, number):
        """Number of the order, charge, ship day."""
        bits, more_bits = self.random(2 * number + 1), self.random(MASK - number)
        order = (bits & 0xffffffff) * self.orders >> 32
        price = 90000 + ((more_bits & 0xffffffff) * 10404951 >> 32)
        discount = (more_bits >> 32) * 11 >> 32
        day = self.order(order)[2] + 1 + ((bits >> 32) * LONGEST_WAIT >> 32)
        return order, price * (100 - discount), day


def model(data, priority=2, first_day=700, last_day=1799, top=10):
    """What is printed, and the numbers of rows that go into and come out of the stages."""
    orders = [data.order(number) for number in range(data.orders)]
    selected_orders = sum(order[1] <= priority for order in orders)
    selected = joined = 0
    groups = {}
    for number in range(data.line_items):
        order, charge, day = data.line_item(number)
        if first_day <= day <= last_day:
            selected += 1
            if orders[order][1] <= priority:
                joined += 1
                customer = orders[order][0]
                groups[customer] = groups.get(customer, 0) + charge
    rows = sorted(groups.items(), key=lambda row: (-row[1], row[0]))[:top]
    printed = "".join(f"{customer:10} {charge // 10000:12}.{charge % 10000:04}\n"
                      for customer, charge in rows)
    counts = [(data.orders, selected_orders), (data.line_items, selected),
              (selected_orders + selected, joined), (joined, len(groups)), (len(groups), len(groups)),
              (len(groups), len(groups))]
    return printed, counts


# ------------------------------------------------------------------------------ checks
def number(text):
    return int(text.replace(",", ""))


def check_rows(name, told, counts):
    rows = [match for line in told.splitlines() if (match := ROW.match(line))]
    expect(f"{name}: stages", [row[1] for row in rows], STAGES)
    if counts is not None:
        expect(f"{name}: rows", [(number(row[2]), number(row[3])) for row in rows], counts)
    longest = max((float(row[4]) for row in rows), default=0)
    for row in rows:
        wanted = 30 * float(row[4]) / longest if longest > 0 else 0
        expect(f"{name}: bar of {row[1]}", abs(len(row[5]) - wanted) < 1.5, True)


def check_query(command, line_items, seed=None, has_model=True, **query):
    arguments = [f"--line-items={line_items}", *([f"--seed={seed}"] if seed is not None else []),
                 *(f"--{key.replace('_', '-')}={value}" for key, value in query.items())]
    result = run([*command, "--check", *arguments])
    name = f"{command} {arguments}"
    expect(f"{name}: exit status", result.returncode, 0)
    told = result.stderr.decode()
    expect(f"{name}: as by the host", CHECKED.search(told) is not None, True)
    data = Data(line_items, *([seed] if seed is not None else []))
    if has_model:
        printed, counts = model(data, **query)
        expect(f"{name}: output", result.stdout.decode(), printed)
    else:
        counts = None
    check_rows(name, told, counts)


def check_queries(command):
    for line_items in (0, 1, 2, 4, 5, 39, 40, 41, 80, 1000, 4097, 20000):
        check_query(command, line_items)
    for seed in (0, 1, MASK):
        check_query(command, 3000, seed=seed)
    everything = {"priority": 5, "first_day": 0, "last_day": DAYS}
    for query in (everything, {**everything, "top": 10**9}, {"top": 0}, {"top": 1},
                  {"priority": 0}, {"priority": -1}, {"priority": 1}, {"priority": 99},
                  {"first_day": 1000, "last_day": 999}, {"first_day": 1000, "last_day": 1000},
                  {"first_day": -5, "last_day": 100}, {"first_day": 2500, "last_day": 99999},
                  {"first_day": 2557, "last_day": 3000}):
        check_query(command, 5000, **query)
    check_query(command, 40, **everything)  # One customer.


def check_scale(command):
    by_scale = run([*command, "--scale=0.002"])
    by_number = run([*command, "--line-items=12000", "--repeat=3"])
    expect(f"{command}: --scale", (by_scale.returncode, by_scale.stdout),
           (0, by_number.stdout))
    expect(f"{command}: --scale: how many", b"and 12,000 line items" in by_scale.stderr, True)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    testing.check_rejected(program, ["x"], ["--scale=-1"], ["--scale="], ["--scale=1x"],
                           ["--scale=nan"], ["--line-items=-1"], ["--line-items=4294967296"],
                           ["--line-items=x"], ["--repeat=0"], ["--device=tpu"], ["--check=1"],
                           ["--top=-1"])
    testing.check_full_disk(program)
    for device in testing.devices(program, "--line-items=1000"):
        command = [program, f"--device={device}"]
        before = testing.checks
        check_queries(command)
        check_query(command, 300000, has_model=False)
        if device == "gpu":
            check_query(command, 6000000, has_model=False)
        check_scale(command)
        print(f"{device}: {testing.checks - before} checks")
    testing.finish()


if __name__ == "__main__":
    main()
