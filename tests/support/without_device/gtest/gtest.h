// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What GPU tests use of GoogleTest, for a machine without a GPU: there nvcc makes device code of them
// that nobody runs, and reading the real header would be half of its work. Everything that a test
// says is compiled, typed tests for each of their types; the host's flavours include the real one.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace testing {

namespace without_device {

template <class T, class = void>
inline constexpr bool is_printed = false;
template <class T>
inline constexpr bool
    is_printed<T, decltype(static_cast<void>(std::declval<std::ostream&>() << std::declval<T>()))> =
        true;

/// Makes the operators that print what is compared and told, if there are any.
template <class T>
void print(const T& value) {
  constexpr bool is_users = std::is_class_v<T> || std::is_enum_v<T>;
  if constexpr (is_users && is_printed<const T&>) std::ostream(nullptr) << value;
}
template <class T>
void print(const std::vector<T>& values) {
  for (const T& value : values) print(value);
}

}  // namespace without_device

class Message {
 public:
  template <class T>
  Message& operator<<(const T& value) {
    without_device::print(value);
    return *this;
  }
  Message& operator<<(std::ostream& (*)(std::ostream&)) { return *this; }
};

class AssertionResult {
 public:
  explicit AssertionResult(bool success) : success_(success) {}
  template <class T>
  AssertionResult& operator<<(const T& value) {
    without_device::print(value);
    return *this;
  }
  explicit operator bool() const { return success_; }

 private:
  bool success_;
};
inline AssertionResult AssertionSuccess() { return AssertionResult(true); }
inline AssertionResult AssertionFailure() { return AssertionResult(false); }

template <class T>
std::string PrintToString(const T& value) {
  without_device::print(value);
  return {};
}

class Test {
 public:
  virtual ~Test() = default;
  static bool HasFailure() { return false; }
  static bool HasFatalFailure() { return false; }

 protected:
  virtual void SetUp() {}
  virtual void TearDown() {}

 private:
  virtual void TestBody() = 0;
};

template <class T>
class TestWithParam : public Test {
 public:
  using ParamType = T;
  static const ParamType& GetParam() {
    static const ParamType parameter{};
    return parameter;
  }
};
template <class T>
struct TestParamInfo {
  T param;
};
template <class Container>
const Container& ValuesIn(const Container& values) {
  return values;
}

template <class... T>
struct Types {};

class Environment {
 public:
  virtual ~Environment() = default;

 private:
  virtual void SetUp() {}
};
inline Environment* AddGlobalTestEnvironment(Environment* environment) { return environment; }

struct TestResult {
  bool Failed() const { return false; }
};
struct TestInfo {
  const TestResult* result() const { return nullptr; }
  const char* test_suite_name() const { return ""; }
  const char* name() const { return ""; }
};
struct EmptyTestEventListener {
  virtual ~EmptyTestEventListener() = default;
  virtual void OnTestEnd(const TestInfo&) {}
};
struct TestEventListeners {
  void Append(EmptyTestEventListener*) {}
};
struct UnitTest {
  static UnitTest* GetInstance() { return nullptr; }
  TestEventListeners& listeners() { return listeners_; }
  TestEventListeners listeners_;
};

struct ExitedWithCode {
  explicit ExitedWithCode(int) {}
};
inline std::string FLAGS_gtest_death_test_style;

namespace without_device {

/// Takes the message of an assertion that leaves its function.
struct leave {
  void operator=(const Message&) const {}
};

#define STRATA_TEST_COMPARISON(name, operation)                             \
  template <class A, class B>                                               \
  bool name(const A& a, const B& b) {                                       \
    return static_cast<bool>(a operation b) || (print(a), print(b), false); \
  }
STRATA_TEST_COMPARISON(is_eq, ==)
STRATA_TEST_COMPARISON(is_ne, !=)
STRATA_TEST_COMPARISON(is_lt, <)
STRATA_TEST_COMPARISON(is_le, <=)
STRATA_TEST_COMPARISON(is_gt, >)
STRATA_TEST_COMPARISON(is_ge, >=)
#undef STRATA_TEST_COMPARISON
inline bool is_near(double a, double b, double difference) {
  return a - b <= difference && b - a <= difference;
}
inline bool is_same_text(const char* a, const char* b) { return std::string(a) == b; }

/// Tests with parameters print them.
template <class Name, class T>
std::string name_of(const Name& name, const T& parameter) {
  print(parameter);
  return name(TestParamInfo<T>{parameter});
}

/// A test that is run makes its function, and so the kernels it starts.
template <template <class> class Suite, class... T>
bool run_each(Types<T...>) {
  return (static_cast<bool>(std::make_unique<Suite<T>>()) && ...);
}

}  // namespace without_device
}  // namespace testing

// A switch, so that an `else` behind an assertion is not taken for that of the `if` in it.
#define STRATA_TEST_EXPECT(...)                                                                 \
  switch (0)                                                                                    \
  case 0:                                                                                       \
  default:                                                                                      \
    if (const bool strata_test_is_true = static_cast<bool>(__VA_ARGS__); strata_test_is_true) { \
    } else                                                                                      \
      ::testing::Message()
#define STRATA_TEST_ASSERT(...)                                                                 \
  switch (0)                                                                                    \
  case 0:                                                                                       \
  default:                                                                                      \
    if (const bool strata_test_is_true = static_cast<bool>(__VA_ARGS__); strata_test_is_true) { \
    } else                                                                                      \
      return ::testing::without_device::leave() = ::testing::Message()

#define EXPECT_TRUE(...) STRATA_TEST_EXPECT(__VA_ARGS__)
#define ASSERT_TRUE(...) STRATA_TEST_ASSERT(__VA_ARGS__)
#define EXPECT_FALSE(...) STRATA_TEST_EXPECT(!(__VA_ARGS__))
#define ASSERT_FALSE(...) STRATA_TEST_ASSERT(!(__VA_ARGS__))
#define EXPECT_EQ(a, b) STRATA_TEST_EXPECT(::testing::without_device::is_eq(a, b))
#define ASSERT_EQ(a, b) STRATA_TEST_ASSERT(::testing::without_device::is_eq(a, b))
#define EXPECT_NE(a, b) STRATA_TEST_EXPECT(::testing::without_device::is_ne(a, b))
#define ASSERT_NE(a, b) STRATA_TEST_ASSERT(::testing::without_device::is_ne(a, b))
#define EXPECT_LT(a, b) STRATA_TEST_EXPECT(::testing::without_device::is_lt(a, b))
#define ASSERT_LT(a, b) STRATA_TEST_ASSERT(::testing::without_device::is_lt(a, b))
#define EXPECT_LE(a, b) STRATA_TEST_EXPECT(::testing::without_device::is_le(a, b))
#define ASSERT_LE(a, b) STRATA_TEST_ASSERT(::testing::without_device::is_le(a, b))
#define EXPECT_GT(a, b) STRATA_TEST_EXPECT(::testing::without_device::is_gt(a, b))
#define ASSERT_GT(a, b) STRATA_TEST_ASSERT(::testing::without_device::is_gt(a, b))
#define EXPECT_GE(a, b) STRATA_TEST_EXPECT(::testing::without_device::is_ge(a, b))
#define ASSERT_GE(a, b) STRATA_TEST_ASSERT(::testing::without_device::is_ge(a, b))
#define EXPECT_NEAR(...) STRATA_TEST_EXPECT(::testing::without_device::is_near(__VA_ARGS__))
#define ASSERT_NEAR(...) STRATA_TEST_ASSERT(::testing::without_device::is_near(__VA_ARGS__))
#define EXPECT_STREQ(a, b) STRATA_TEST_EXPECT(::testing::without_device::is_same_text(a, b))
#define EXPECT_PRED_FORMAT1(format, a) STRATA_TEST_EXPECT(format(#a, a))
#define ASSERT_PRED_FORMAT1(format, a) STRATA_TEST_ASSERT(format(#a, a))
#define EXPECT_PRED_FORMAT2(format, a, b) STRATA_TEST_EXPECT(format(#a, #b, a, b))
#define ASSERT_PRED_FORMAT2(format, a, b) STRATA_TEST_ASSERT(format(#a, #b, a, b))
#define EXPECT_EXIT(statement, predicate, text) \
  static_cast<void>(predicate);                 \
  if (std::string(text).empty()) statement else ::testing::Message()
#define ADD_FAILURE() ::testing::Message()
#define FAIL() return ::testing::without_device::leave() = ::testing::Message()
#define GTEST_SKIP() return ::testing::without_device::leave() = ::testing::Message()
#define SCOPED_TRACE(message) static_cast<void>(::testing::Message() << (message))
#define ASSERT_NO_FATAL_FAILURE(...)                          \
  switch (0)                                                  \
  case 0:                                                     \
  default:                                                    \
    if (bool strata_test_is_run = true; strata_test_is_run) { \
      __VA_ARGS__;                                            \
    } else                                                    \
      ::testing::Message()

#define STRATA_TEST_CLASS(suite, name, ...)          \
  class suite##_##name##_Test : public __VA_ARGS__ { \
    void TestBody() override;                        \
  };                                                 \
  void suite##_##name##_Test::TestBody()
#define TEST(suite, name) STRATA_TEST_CLASS(suite, name, ::testing::Test)
#define TEST_F(suite, name) STRATA_TEST_CLASS(suite, name, suite)
#define TEST_P(suite, name) STRATA_TEST_CLASS(suite, name, suite)
#define INSTANTIATE_TEST_SUITE_P(prefix, suite, values, name)         \
  [[maybe_unused]] inline const std::string prefix##_##suite##_name = \
      ::testing::without_device::name_of(name, (values).front())
#define TYPED_TEST_SUITE(suite, types) using suite##_types = types
#define TYPED_TEST(suite, name)                                                    \
  template <class TypeParam>                                                       \
  class suite##_##name##_Test : public suite<TypeParam> {                          \
    using TestFixture = suite<TypeParam>;                                          \
    void TestBody() override;                                                      \
  };                                                                               \
  [[maybe_unused]] inline const bool suite##_##name##_is_run =                     \
      ::testing::without_device::run_each<suite##_##name##_Test>(suite##_types{}); \
  template <class TypeParam>                                                       \
  void suite##_##name##_Test<TypeParam>::TestBody()
