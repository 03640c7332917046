// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of orders: the tables, and a query as a few calls of the library.

#include "../common/device.cuh"
#include "database.hpp"

#include <strata/core/launcher.cuh>
#include <strata/device/device_group_by.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_select.cuh>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace orders::STRATA_EXAMPLE_BACK_END {

using example::check;
using example::device_array;

// ------------------------------------------------------------------ tables

struct order_table {
  device_array<std::uint32_t> keys, customers;
  device_array<std::uint16_t> priorities;

  explicit order_table(std::size_t rows) : keys(rows), customers(rows), priorities(rows) {}
};

struct line_table {
  device_array<std::uint32_t> keys, prices;
  device_array<std::uint16_t> days;
  device_array<std::uint8_t> discounts;

  explicit line_table(std::size_t rows) : keys(rows), prices(rows), days(rows), discounts(rows) {}
};

/// Stores the order that is made from a row's number, column by column.
struct order_writer {
  data_set data;
  std::uint32_t* keys;
  std::uint32_t* customers;
  std::uint16_t* priorities;

  STRATA_HD void operator()(std::uint32_t i) const {
    const order made = data.make_order(i);
    keys[i] = made.key;
    customers[i] = made.customer;
    priorities[i] = made.priority;
  }
};
struct line_writer {
  data_set data;
  std::uint32_t* keys;
  std::uint32_t* prices;
  std::uint16_t* days;
  std::uint8_t* discounts;

  STRATA_HD void operator()(std::uint32_t i) const {
    const line_item made = data.make_line_item(i);
    keys[i] = made.order_key;
    prices[i] = made.price;
    days[i] = made.ship_day;
    discounts[i] = made.discount;
  }
};

constexpr int block_threads = 256;

template <class Writer>
STRATA_KERNEL void __launch_bounds__(block_threads) write_rows(Writer writer, long long rows) {
  const long long i = static_cast<long long>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < rows) writer(static_cast<std::uint32_t>(i));
}

template <class Writer>
void make_rows(const char* name, const Writer& writer, long long rows) {
  if (rows == 0) return;
  const auto blocks = static_cast<unsigned>((rows + block_threads - 1) / block_threads);
  check(name, strata::launch({name, dim3(blocks), dim3(block_threads)}, write_rows<Writer>, writer, rows));
}

// ------------------------------------------------------------------ what is selected and computed

struct is_between {
  int first;
  int last;
  STRATA_HD bool operator()(std::uint16_t value) const { return first <= value && value <= last; }
};

/// An item of a selection: a row's key, and a `Value` of the row. Items are put together where they are read, and
/// stored in two columns.
struct keyed_value {
  std::uint32_t key;
  std::uint32_t value;
};

template <class Value>
struct keyed_row {
  const std::uint32_t* keys;
  Value value;
  STRATA_HD keyed_value operator()(long long row) const { return {keys[row], value(row)}; }
};

/// An output iterator. Its item i consists of item i of both columns.
struct two_columns {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = void;

  struct place {
    std::uint32_t& key;
    std::uint32_t& value;
    STRATA_HD void operator=(const keyed_value& stored) const {
      key = stored.key;
      value = stored.value;
    }
  };

  std::uint32_t* keys;
  std::uint32_t* values;

  STRATA_HD two_columns operator+(std::ptrdiff_t n) const { return {keys + n, values + n}; }
  STRATA_HD place operator*() const { return {*keys, *values}; }
  STRATA_HD place operator[](std::ptrdiff_t n) const { return {keys[n], values[n]}; }
};

struct customer_of {
  const std::uint32_t* customers;
  STRATA_HD std::uint32_t operator()(long long row) const { return customers[row]; }
};
struct charge_of {
  const std::uint32_t* prices;
  const std::uint8_t* discounts;
  STRATA_HD std::uint32_t operator()(long long row) const { return charge(prices[row], discounts[row]); }
};

// ------------------------------------------------------------------ time and temporary storage

class event {
 public:
  event() { check("cudaEventCreate", cudaEventCreate(&event_)); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { static_cast<void>(cudaEventDestroy(event_)); }

  void record() { check("cudaEventRecord", cudaEventRecord(event_, nullptr)); }
  double milliseconds_since(const event& begin) const {
    float milliseconds = 0;
    check("cudaEventSynchronize", cudaEventSynchronize(event_));
    check("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, begin.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Temporary storage of one call at a time. It grows, so a second query allocates nothing.
class temporary_storage {
 public:
  void* get(std::size_t bytes) {
    if (bytes > storage_.size()) {
      storage_ = device_array<unsigned char>(0);  // Frees first.
      storage_ = device_array<unsigned char>(bytes);
    }
    return storage_.get();
  }

 private:
  device_array<unsigned char> storage_{0};
};

// ------------------------------------------------------------------ the query

class cuda_database final : public database {
 public:
  cuda_database(std::string device, const data_set& data)
      : device_(std::move(device)),
        data_(data),
        orders_(static_cast<std::size_t>(data.orders())),
        lines_(static_cast<std::size_t>(data.line_items())),
        order_keys_(orders_.keys.size()),
        order_customers_(orders_.keys.size()),
        line_keys_(lines_.keys.size()),
        line_charges_(lines_.keys.size()),
        joined_customers_(lines_.keys.size()),
        joined_charges_(lines_.keys.size()),
        group_customers_(static_cast<std::size_t>(data.customers())),
        group_charges_(group_customers_.size()),
        top_customers_(group_customers_.size()),
        top_charges_(group_customers_.size()) {
    event begin;
    event end;
    begin.record();
    make_rows("orders::make_orders",
              order_writer{data, orders_.keys.get(), orders_.customers.get(), orders_.priorities.get()}, data.orders());
    make_rows("orders::make_line_items",
              line_writer{data, lines_.keys.get(), lines_.prices.get(), lines_.days.get(), lines_.discounts.get()},
              data.line_items());
    end.record();
    milliseconds_to_make_ = end.milliseconds_since(begin);
  }

  std::string device() const override { return device_; }
  double milliseconds_to_make() const override { return milliseconds_to_make_; }

  tables download() const override {
    return {orders_.keys.download(),    orders_.customers.download(), orders_.priorities.download(),
            lines_.keys.download(),     lines_.prices.download(),     lines_.days.download(),
            lines_.discounts.download()};
  }

  answer ask(const query& asked) override {
    using clock = std::chrono::steady_clock;
    const clock::time_point begin = clock::now();
    answer result;
    stages_ = &result.stages;

    const long long orders = select("select orders", orders_.priorities.get(), data_.orders(), {1, asked.priority},
                                    keyed_row<customer_of>{orders_.keys.get(), {orders_.customers.get()}},
                                    {order_keys_.get(), order_customers_.get()});
    const long long lines =
        select("select line items", lines_.days.get(), data_.line_items(), {asked.first_day, asked.last_day},
               keyed_row<charge_of>{lines_.keys.get(), {lines_.prices.get(), lines_.discounts.get()}},
               {line_keys_.get(), line_charges_.get()});
    const long long joined = join(orders, lines);
    groups_ = add_up_by_customer(joined);
    sort_by_customer(groups_);
    result.top = top(groups_, asked.top);

    result.milliseconds = std::chrono::duration<double, std::milli>(clock::now() - begin).count();
    return result;
  }

  std::vector<charged_customer> groups() const override {
    return zip(group_customers_, group_charges_, static_cast<std::size_t>(groups_));
  }

 private:
  /// Times `call`, and notes how many rows go in and come out.
  template <class Call>
  void measure(const char* name, long long rows_in, const Call& call) {
    std::size_t temp_bytes = 0;
    check(name, call(nullptr, temp_bytes));
    void* const temp = temp_.get(temp_bytes);
    begin_.record();
    check(name, call(temp, temp_bytes));
    end_.record();
    const double milliseconds = end_.milliseconds_since(begin_);
    stages_->push_back({name, rows_in, rows_in, milliseconds});
  }

  /// The number of rows that the last stage has written to the device's memory.
  long long rows_out() {
    stages_->back().rows_out = count_.download()[0];
    return stages_->back().rows_out;
  }

  /// Selects the rows whose flags are in a range.
  template <class Value>
  long long select(const char* name, const std::uint16_t* flags, long long rows, is_between range,
                   const keyed_row<Value>& row, const two_columns& selected) {
    measure(name, rows, [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceSelect::FlaggedIf(temp, temp_bytes, example::computed<keyed_row<Value>>{row}, flags,
                                             selected, count_.get(), rows, range);
    });
    return rows_out();
  }

  /// Finds customers and charges of the selected line items of selected orders, in any order, because sums do not
  /// depend on it.
  long long join(long long orders, long long lines) {
    // No two orders have the same key.
    const auto build = strata::join_side(order_keys_.get(), orders).unique();
    const auto probe = strata::join_side(line_keys_.get(), lines);
    const auto columns = strata::join_columns<std::uint32_t>(
        lines, strata::build_column(order_customers_.get(), joined_customers_.get(), 0u),
        strata::probe_column(line_charges_.get(), joined_charges_.get(), 0u));
    measure("join", orders + lines, [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceHashJoin::Inner(temp, temp_bytes, build, probe, columns, count_.get());
    });
    return rows_out();
  }

  /// Adds up 32-bit charges in 64 bits.
  long long add_up_by_customer(long long rows) {
    const auto keys = strata::group_keys(joined_customers_.get(), rows);
    const auto sums = strata::group_aggregates(strata::group_sum(joined_charges_.get(), group_charges_.get()));
    const auto groups = strata::group_output(group_customers_.get(), data_.customers());
    measure("add up by customer", rows, [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceGroupBy::Aggregate(temp, temp_bytes, keys, sums, groups, count_.get());
    });
    return rows_out();
  }

  /// Groups come in any order. There are fewer groups than rows, so it takes less time to sort groups than to add up
  /// rows in the order of customers.
  void sort_by_customer(long long groups) {
    int bits = 1;
    while (data_.customers() >> bits != 0) ++bits;
    measure("sort by customer", groups, [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceRadixSort::SortPairs(temp, temp_bytes, group_customers_.get(), top_customers_.get(),
                                                group_charges_.get(), top_charges_.get(), groups, 0, bits);
    });
    std::swap(group_customers_, top_customers_);
    std::swap(group_charges_, top_charges_);
  }

  /// The sort is stable: among customers with equal charges, the smaller customer number comes first.
  std::vector<charged_customer> top(long long groups, std::size_t wanted) {
    measure("sort by charge", groups, [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceRadixSort::SortPairsDescending(temp, temp_bytes, group_charges_.get(), top_charges_.get(),
                                                          group_customers_.get(), top_customers_.get(), groups);
    });
    return zip(top_customers_, top_charges_, std::min(wanted, static_cast<std::size_t>(groups)));
  }

  static std::vector<charged_customer> zip(const device_array<std::uint32_t>& customers,
                                           const device_array<long long>& charges, std::size_t count) {
    const std::vector<std::uint32_t> some_customers = customers.download(count);
    const std::vector<long long> some_charges = charges.download(count);
    std::vector<charged_customer> zipped;
    for (std::size_t i = 0; i < count; ++i) zipped.push_back({some_customers[i], some_charges[i]});
    return zipped;
  }

  std::string device_;
  data_set data_;
  order_table orders_;
  line_table lines_;
  double milliseconds_to_make_ = 0;
  // The selected rows, then joined, grouped and sorted ones.
  device_array<std::uint32_t> order_keys_, order_customers_;
  device_array<std::uint32_t> line_keys_, line_charges_;
  device_array<std::uint32_t> joined_customers_, joined_charges_;
  device_array<std::uint32_t> group_customers_;
  device_array<long long> group_charges_;
  device_array<std::uint32_t> top_customers_;
  device_array<long long> top_charges_;
  device_array<std::int64_t> count_{1};
  temporary_storage temp_;
  event begin_, end_;
  std::vector<stage>* stages_ = nullptr;
  long long groups_ = 0;
};

std::unique_ptr<database> make_database(const data_set& data) {
  return std::make_unique<cuda_database>(example::open_device(), data);
}

}  // namespace orders::STRATA_EXAMPLE_BACK_END
