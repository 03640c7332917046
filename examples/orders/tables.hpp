// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>
#include <vector>

/// The tables and their rows. Each value is a function of the row's number and a seed. So a device may make the rows in
/// any order, and all devices make the same rows.
namespace orders {

constexpr int priorities = 5;      // of an order, from 1
constexpr int days = 2557;         // on which items are shipped, from 0: seven years
constexpr int longest_wait = 121;  // days from an order to the shipping of its items

struct order {
  std::uint32_t key;
  std::uint32_t customer;
  std::uint16_t priority;
  std::uint16_t day;  // not stored in the table
};

struct line_item {
  std::uint32_t order_key;
  std::uint32_t price;  // cents
  std::uint16_t ship_day;
  std::uint8_t discount;  // percent
};

/// What a customer is charged for an item, in hundredths of a cent. Fits 32 bits, because no price is
/// above 104,949.50; sums of charges take 64.
STRATA_HD std::uint32_t charge(std::uint32_t price, std::uint8_t discount) { return price * (100u - discount); }

class data_set {
 public:
  /// Row numbers have 32 bits.
  static constexpr long long most_line_items = 0xffffffff;

  data_set(long long line_items, std::uint64_t seed) : line_items_(line_items), seed_(seed) {}

  STRATA_HD long long line_items() const { return line_items_; }
  STRATA_HD long long orders() const { return (line_items_ + 3) / 4; }
  STRATA_HD long long customers() const { return (orders() + 9) / 10; }

  /// A few customers have many orders: one in a thousand has a thirtieth of all orders.
  STRATA_HD order make_order(std::uint32_t number) const {
    const std::uint64_t bits = random(2 * std::uint64_t{number});
    const std::uint64_t uniform = bits & 0xffffffff;
    const std::uint64_t skewed = uniform * uniform >> 32;
    const std::uint64_t rank = skewed * static_cast<std::uint64_t>(customers()) >> 32;
    // The multiplier is a prime that is greater than any number of customers, so different ranks are different
    // customers.
    const std::uint64_t customer = rank * 2654435761 % static_cast<std::uint64_t>(customers());
    return {key_of(number), static_cast<std::uint32_t>(customer),
            static_cast<std::uint16_t>(1 + ((bits >> 32 & 0xffff) * priorities >> 16)),
            static_cast<std::uint16_t>((bits >> 48) * (days - longest_wait) >> 16)};
  }

  /// Line items of an order are not neighbours.
  STRATA_HD line_item make_line_item(std::uint32_t number) const {
    const std::uint64_t bits = random(2 * std::uint64_t{number} + 1);
    const std::uint64_t more_bits = random(~std::uint64_t{number});
    const order from =
        make_order(static_cast<std::uint32_t>((bits & 0xffffffff) * static_cast<std::uint64_t>(orders()) >> 32));
    constexpr std::uint64_t least_price = 90000;
    constexpr std::uint64_t price_range = 10404951;
    return {from.key, static_cast<std::uint32_t>(least_price + ((more_bits & 0xffffffff) * price_range >> 32)),
            static_cast<std::uint16_t>(from.day + 1 + ((bits >> 32) * longest_wait >> 32)),
            static_cast<std::uint8_t>((more_bits >> 32) * 11 >> 32)};
  }

 private:
  /// Keys of 32 bits without an order: the multiplier is odd, so no two numbers have the same key.
  STRATA_HD static std::uint32_t key_of(std::uint32_t number) { return number * 2246822519u; }

  /// The output function of SplitMix64.
  STRATA_HD std::uint64_t random(std::uint64_t place) const {
    std::uint64_t bits = seed_ + (place + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
  }

  long long line_items_;
  std::uint64_t seed_;
};

/// Which customers were charged most for items of orders of priority 1 to `priority` that were shipped from `first_day`
/// to `last_day`?
///
///     SELECT customer, SUM(price * (100 - discount)) AS charged
///     FROM line_items JOIN orders ON order_key = key
///     WHERE priority <= :priority AND ship_day BETWEEN :first_day AND :last_day
///     GROUP BY customer ORDER BY charged DESC, customer LIMIT :top
struct query {
  int priority = 2;
  int first_day = 700;
  int last_day = 1799;
  std::size_t top = 10;
};

/// A group, or a row of the answer.
struct charged_customer {
  std::uint32_t customer;
  long long charged;  // hundredths of a cent
};

/// Tables as columns, in the memory of the host.
struct tables {
  std::vector<std::uint32_t> order_keys, order_customers;
  std::vector<std::uint16_t> order_priorities;
  std::vector<std::uint32_t> line_keys, line_prices;
  std::vector<std::uint16_t> line_days;
  std::vector<std::uint8_t> line_discounts;
};

}  // namespace orders
