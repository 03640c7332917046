// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random-access iterators that are not pointers.
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace device_test {

/// CRTP base: the operators of a random-access iterator whose item i is `at(i)` of the derived class.
template <class Derived, class Value, class Reference>
class indexed_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using reference = Reference;
  using pointer = void;
  using difference_type = std::ptrdiff_t;

  STRATA_HD explicit indexed_iterator(difference_type index) : index_(index) {}

  STRATA_HD reference operator*() const { return self().at(index_); }
  STRATA_HD reference operator[](difference_type n) const { return self().at(index_ + n); }
  STRATA_HD Derived operator+(difference_type n) const { return moved(index_ + n); }
  STRATA_HD Derived operator-(difference_type n) const { return moved(index_ - n); }
  STRATA_HD difference_type operator-(const Derived& other) const { return index_ - other.index_; }
  STRATA_HD Derived& operator+=(difference_type n) { return index_ += n, self(); }
  STRATA_HD Derived& operator-=(difference_type n) { return index_ -= n, self(); }
  STRATA_HD Derived& operator++() { return ++index_, self(); }
  STRATA_HD Derived& operator--() { return --index_, self(); }
  STRATA_HD bool operator==(const Derived& other) const { return index_ == other.index_; }
  STRATA_HD bool operator!=(const Derived& other) const { return index_ != other.index_; }
  STRATA_HD bool operator<(const Derived& other) const { return index_ < other.index_; }

 private:
  STRATA_HD const Derived& self() const { return static_cast<const Derived&>(*this); }
  STRATA_HD Derived& self() { return static_cast<Derived&>(*this); }
  STRATA_HD Derived moved(difference_type index) const {
    Derived other = self();
    other.index_ = index;
    return other;
  }
  difference_type index_;
};

/// first, first + 1, ...
template <class T>
class counting : public indexed_iterator<counting<T>, T, T> {
 public:
  STRATA_HD explicit counting(T first, std::ptrdiff_t index = 0)
      : indexed_iterator<counting, T, T>(index), first_(first) {}
  STRATA_HD T at(std::ptrdiff_t i) const { return static_cast<T>(first_ + static_cast<T>(i)); }

 private:
  T first_;
};

template <class T>
class constant : public indexed_iterator<constant<T>, T, const T&> {
 public:
  STRATA_HD explicit constant(T value) : indexed_iterator<constant, T, const T&>(0), value_(value) {}
  STRATA_HD const T& at(std::ptrdiff_t) const { return value_; }

 private:
  T value_;
};

/// f(in[i])
template <class Iterator, class Function>
class transforming
    : public indexed_iterator<transforming<Iterator, Function>,
                              std::decay_t<std::invoke_result_t<Function, decltype(*std::declval<Iterator>())>>,
                              std::invoke_result_t<Function, decltype(*std::declval<Iterator>())>> {
  using result = std::invoke_result_t<Function, decltype(*std::declval<Iterator>())>;

 public:
  STRATA_HD transforming(Iterator in, Function function)
      : indexed_iterator<transforming, std::decay_t<result>, result>(0), in_(in), function_(function) {}
  STRATA_HD result at(std::ptrdiff_t i) const { return function_(in_[i]); }

 private:
  Iterator in_;
  Function function_;
};

/// in[0], in[stride], in[2 * stride] ...; stride may be negative.
template <class T>
class strided : public indexed_iterator<strided<T>, std::remove_const_t<T>, T&> {
 public:
  STRATA_HD strided(T* first, std::ptrdiff_t stride)
      : indexed_iterator<strided, std::remove_const_t<T>, T&>(0), first_(first), stride_(stride) {}
  STRATA_HD T& at(std::ptrdiff_t i) const { return first_[i * stride_]; }

 private:
  T* first_;
  std::ptrdiff_t stride_;
};

/// Proxy for a bit of a packed array: neither a reference nor the value type.
class bit_reference {
 public:
  STRATA_HD bit_reference(const unsigned* word, unsigned bit) : word_(word), bit_(bit) {}
  STRATA_HD operator bool() const { return (*word_ >> bit_ & 1u) != 0; }

 private:
  const unsigned* word_;
  unsigned bit_;
};
class bits : public indexed_iterator<bits, bool, bit_reference> {
 public:
  STRATA_HD explicit bits(const unsigned* words) : indexed_iterator<bits, bool, bit_reference>(0), words_(words) {}
  STRATA_HD bit_reference at(std::ptrdiff_t i) const { return {words_ + i / 32, static_cast<unsigned>(i % 32)}; }

 private:
  const unsigned* words_;
};

/// Proxy for an item of `by_proxies`. It can only be converted to the item.
template <class T>
class item_reference {
 public:
  STRATA_HD explicit item_reference(const T* item) : item_(item) {}
  STRATA_HD operator T() const { return *item_; }

 private:
  const T* item_;
};
template <class T>
class by_proxies : public indexed_iterator<by_proxies<T>, T, item_reference<T>> {
 public:
  STRATA_HD explicit by_proxies(const T* items)
      : indexed_iterator<by_proxies, T, item_reference<T>>(0), items_(items) {}
  STRATA_HD item_reference<T> at(std::ptrdiff_t i) const { return item_reference<T>(items_ + i); }

 private:
  const T* items_;
};

/// An array whose iterators have the difference_type `Difference`.
template <class T, class Difference>
class with_difference : public indexed_iterator<with_difference<T, Difference>, T, const T&> {
 public:
  using difference_type = Difference;
  STRATA_HD explicit with_difference(const T* items)
      : indexed_iterator<with_difference, T, const T&>(0), items_(items) {}
  STRATA_HD const T& at(std::ptrdiff_t i) const { return items_[i]; }

 private:
  const T* items_;
};

/// Output iterator whose value_type is void. It stores twice the value that is assigned.
template <class T>
class doubling_output {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = void;
  using reference = void;
  using pointer = void;
  using difference_type = std::ptrdiff_t;

  class assignment {
   public:
    STRATA_HD explicit assignment(T* to) : to_(to) {}
    template <class U>
    STRATA_HD void operator=(const U& value) const {
      *to_ = static_cast<T>(value + value);
    }

   private:
    T* to_;
  };

  STRATA_HD explicit doubling_output(T* to) : to_(to) {}
  STRATA_HD assignment operator*() const { return assignment(to_); }
  STRATA_HD assignment operator[](difference_type n) const { return assignment(to_ + n); }
  STRATA_HD doubling_output operator+(difference_type n) const { return doubling_output(to_ + n); }

 private:
  T* to_;
};

/// Output iterator whose value_type is not what is assigned: takes double, stores hundredths as int.
class hundredths_output {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using reference = void;
  using pointer = void;
  using difference_type = std::ptrdiff_t;

  class assignment {
   public:
    STRATA_HD explicit assignment(int* to) : to_(to) {}
    STRATA_HD void operator=(double number) const { *to_ = static_cast<int>(number * 100); }

   private:
    int* to_;
  };

  explicit hundredths_output(int* to) : to_(to) {}
  STRATA_HD assignment operator*() const { return assignment(to_); }
  STRATA_HD assignment operator[](difference_type n) const { return assignment(to_ + n); }
  STRATA_HD hundredths_output operator+(difference_type n) const {
    hundredths_output moved = *this;
    moved.to_ += n;
    return moved;
  }

 private:
  int* to_;
};

/// Output iterator that counts how often each item is written.
template <class T>
class counted_output {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using reference = void;
  using pointer = void;
  using difference_type = std::ptrdiff_t;

  class assignment {
   public:
    STRATA_HD assignment(T* to, unsigned* count) : to_(to), count_(count) {}
    STRATA_D void operator=(const T& value) const {
      atomicAdd(count_, 1u);
      *to_ = value;
    }

   private:
    T* to_;
    unsigned* count_;
  };

  counted_output(T* to, unsigned* counts) : to_(to), counts_(counts) {}
  STRATA_HD assignment operator*() const { return {to_, counts_}; }
  STRATA_HD assignment operator[](difference_type n) const { return {to_ + n, counts_ + n}; }
  STRATA_HD counted_output operator+(difference_type n) const {
    counted_output moved = *this;
    moved.to_ += n;
    moved.counts_ += n;
    return moved;
  }

 private:
  T* to_;
  unsigned* counts_;
};

}  // namespace device_test
