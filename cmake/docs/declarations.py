# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the public declarations of strata's headers, with their comments.

This is no C++ parser: it knows what these formatted headers have. It follows the branches of `#if` that nvcc's host
pass takes, and leaves out bodies, private members, friends, specialisations and namespaces for the library itself.
"""

import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<doc>///[^\n]*)
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<directive>\#(?:\\\n|[^\n])*)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
      | (?P<word>[A-Za-z_]\w*|\d(?:'?[\w.])*)
      | (?P<sign>::|->|&&|\|\||==|!=|<=|>=|\.\.\.|[^\s\w])
      | (?P<space>\s+)""", re.VERBOSE | re.DOTALL)

# Namespaces whose names users do not write.
INNER_NAMESPACES = ("detail", "platform", "temporary_storage")
DEFINED = {"__CUDACC__": 1, "STRATA_HOST_SIMT": 0, "STRATA_DEVICE_PASS": 0, "__cplusplus": 201703,
           "STRATA_JOIN_BACKEND": 1, "STRATA_JOIN_BACKEND_CUDA": 1, "__SIZEOF_INT128__": 16}
OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    line: int
    space: bool  # white space stands before it


@dataclasses.dataclass
class Declaration:
    kind: str  # class, enum, alias, function, variable, macro, without_storage
    name: str
    line: int
    comment: list  # lines of the comment, without ///
    template: list = dataclasses.field(default_factory=list)  # of (declaration, name)
    before: str = ""  # a function's type and annotations; a variable's type; "class" or "struct"
    parameters: list = dataclasses.field(default_factory=list)  # of (declaration, name)
    after: str = ""  # const; an initial value; an alias's type; the text of an enumeration
    members: list = dataclasses.field(default_factory=list)
    bases: list = dataclasses.field(default_factory=list)  # names of inner base classes
    has_template: bool = False
    source: str = ""  # its header, if that is another one


class ParseError(Exception):
    pass


def is_true(expression):
    """The value of an #if of the headers."""
    text = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda match: str(int(match.group(1) in DEFINED)), expression)
    text = re.sub(r"[A-Za-z_]\w*(\s*\([^()]*\))?", lambda match: str(DEFINED.get(match.group(0), 0)), text)
    text = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or "))
    return bool(eval(text, {"__builtins__": {}}))  # numbers and operators only


def tokens_of(text):
    """Tokens, without comments that are no documentation and without what the preprocessor leaves out."""
    found = []
    taken = []  # for each open #if: [a branch has been taken, this branch is taken]
    line, space = 1, False
    for match in TOKEN.finditer(text):
        kind, body = match.lastgroup, match.group(0)
        start = line
        line += body.count("\n")
        if kind == "space":
            space = True
            # An empty line ends a comment.
            if body.count("\n") > 1 and found and found[-1].kind == "doc":
                found.append(Token("gap", "", start, True))
            continue
        if kind == "comment":
            continue
        if kind == "directive":
            word, rest = re.fullmatch(r"#\s*(\w+)\s*(.*)", body.replace("\\\n", " "), re.DOTALL).groups()
            rest = re.sub(r"//.*", "", rest)
            if word in ("if", "ifdef", "ifndef"):
                value = is_true(rest) if word == "if" else (rest.strip() in DEFINED) == (word == "ifdef")
                taken.append([value, value])
            elif word == "elif":
                value = not taken[-1][0] and is_true(rest)
                taken[-1] = [taken[-1][0] or value, value]
            elif word == "else":
                taken[-1] = [True, not taken[-1][0]]
            elif word == "endif":
                taken.pop()
            elif word == "define" and all(now for _, now in taken):
                found.append(Token("define", rest, start, space))
            continue
        if all(now for _, now in taken):
            found.append(Token(kind, body, start, space))
            space = False
    return found


def text_of(tokens):
    """The tokens as source text: one blank where there was any white space."""
    text = ""
    for token in tokens:
        if token.kind in ("doc", "gap"):
            continue
        text += (" " if token.space and text else "") + token.text
    return text


def split_list(tokens):
    """Parts between the commas outside of brackets, of a list of parameters."""
    parts, depth = [[]], 0
    for index, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        elif token.text == "<" and tokens[index - 1].text != "operator":
            depth += 1
        elif token.text == ">":
            depth -= 1
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def without_default(tokens):
    """The tokens up to an `=` outside of brackets."""
    depth = 0
    for index, token in enumerate(tokens):
        if token.text in "([{<":
            depth += 1
        elif token.text in ")]}>":
            depth -= 1
        elif token.text == "=" and depth == 0:
            return tokens[:index]
    return tokens


def name_of_parameter(tokens):
    """The name of a parameter, "" if it has none."""
    tokens = without_default(tokens)
    # T (&items)[N] and void (*kernel)(Parameters...)
    for index in range(len(tokens) - 3):
        if tokens[index].text == "(" and tokens[index + 1].text in ("&", "*", "&&"):
            return tokens[index + 2].text
    while tokens and tokens[-1].text == "]":  # items[N]
        depth = 0
        while tokens:
            last = tokens[-1]
            tokens = tokens[:-1]
            depth += (last.text == "]") - (last.text == "[")
            if depth == 0:
                break
    words = [token for token in tokens if token.kind == "word" and token.text not in ("const", "typename", "volatile")]
    if len(tokens) < 2 or tokens[-1].kind != "word" or tokens[-2].text == "::" or tokens[-1] is not words[-1]:
        return ""
    if len(words) < 2 or words[-1].text in ("int", "unsigned", "long", "char", "bool"):
        return ""
    return tokens[-1].text


def enumerators_of(tokens):
    found = []
    for part in split_list([token for token in tokens if token.kind != "gap"]):
        while part and part[0].text.startswith("///<"):  # of the one before
            found[-1].comment.append(part[0].text[4:])
            part = part[1:]
        comment = [token.text[3:] for token in part if token.kind == "doc" and not token.text.startswith("///<")]
        while part and part[-1].text.startswith("///<"):
            comment.append(part[-1].text[4:])
            part = part[:-1]
        part = [token for token in part if token.kind != "doc"]
        if part:
            found.append(Declaration("enumerator", part[0].text, part[0].line, comment, after=text_of(part[1:])))
    return found


class Parser:
    def __init__(self, text, is_public_without_comment=True, inner=False):
        self.inner = inner
        self.tokens = tokens_of(text)
        self.at = 0
        self.file_comment = []
        self.is_public_without_comment = is_public_without_comment

    def peek(self, ahead=0):
        index = self.at + ahead
        if index > len(self.tokens):  # otherwise a search for a sign that is not there would not end
            raise ParseError(f"line {self.tokens[-1].line}: the file ends in a declaration")
        return self.tokens[index].text if index < len(self.tokens) else ""

    def balanced(self):
        """The tokens of a bracket that begins here, both ends included."""
        start, closing = self.at, []
        while self.at < len(self.tokens):
            text = self.tokens[self.at].text
            if self.tokens[self.at].kind == "sign":
                if text in OPEN:
                    closing.append(OPEN[text])
                elif closing and text == closing[-1]:
                    closing.pop()
            self.at += 1
            if not closing:
                return self.tokens[start:self.at]
        raise ParseError(f"line {self.tokens[start].line}: {self.tokens[start].text} is not closed")

    def angle(self):
        """The tokens of <...> that begins here, both ends included."""
        start, depth = self.at, 0
        while True:
            text = self.peek()
            if text == "":
                raise ParseError(f"line {self.tokens[start].line}: < is not closed")
            if text in OPEN:
                self.balanced()
                continue
            depth += (text == "<") - (text == ">")
            self.at += 1
            if depth == 0:
                return self.tokens[start:self.at]

    def until_semicolon(self):
        start = self.at
        while self.peek() != ";":
            if self.peek() in OPEN:
                self.balanced()
            else:
                self.at += 1
        self.at += 1
        return self.tokens[start:self.at - 1]

    def scope(self, owner=""):
        """The declarations up to the closing brace, or the end of the file."""
        found, comment, is_public = [], [], owner[:6] != "class "
        owner = owner.split()[-1] if owner else ""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text.startswith("///<") and found:  # of the one before
                found[-1].comment.append(token.text[4:])
                self.at += 1
                continue
            if token.kind == "doc":
                comment.append(token.text[3:])
                self.at += 1
                continue
            if token.kind == "gap":
                self.at += 1
                if not found and not owner and not self.file_comment:
                    self.file_comment = comment
                comment = []
                continue
            given, comment = comment, []
            if token.kind == "define":
                self.at += 1
                name, parameters = re.match(r"(\w+)(\([^)]*\))?", token.text).groups()
                if not name.startswith("STRATA_DETAIL"):
                    found.append(Declaration("macro", name, token.line, given, after=parameters or ""))
                elif given and not self.file_comment:
                    self.file_comment = given
                continue
            if token.text == "}":
                self.at += 1
                return found
            if re.fullmatch(r"STRATA_(ARCH_)?NAMESPACE_BEGIN", token.text):
                self.at += 1
                found += self.scope()
            elif re.fullmatch(r"STRATA_(ARCH_)?NAMESPACE_END", token.text):
                self.at += 1
                return found
            elif re.fullmatch(r"STRATA_(ARCH_DETAIL|STD)_NAMESPACE_BEGIN", token.text):
                while self.peek() != token.text.replace("BEGIN", "END"):
                    self.at += 1
                self.at += 1
            elif token.text == "namespace":
                name = self.peek(1)
                while self.peek() != "{":
                    self.at += 1
                if name in INNER_NAMESPACES and not self.inner:
                    self.balanced()
                else:
                    self.at += 1
                    found += self.scope()
            elif token.text in ("public", "private", "protected") and self.peek(1) == ":":
                is_public = token.text == "public"
                self.at += 2
            elif token.text == ";":
                self.at += 1
            elif re.match("STRATA_CALL_(OF_RANK_)?WITH", token.text) and owner:
                self.at += 1
                name = self.balanced()[1].text
                kind = "unused" if "UNUSED" in token.text else ""
                found.append(Declaration("without_storage", name, token.line, given, before=kind))
            else:
                declared = self.declaration(owner, given)
                for item in declared if isinstance(declared, list) else [declared] if declared else []:
                    if is_public and (self.is_public_without_comment or owner or item.comment):
                        found.append(item)
        return found

    def declaration(self, owner, comment):
        line = self.tokens[self.at].line
        template, has_template = [], False
        while self.peek() == "template":
            self.at += 1
            has_template = True
            for part in split_list(self.angle()[1:-1]):
                name = self.name_of_template_parameter(part)
                template.append((text_of(part), name))
        while self.peek() == "[":  # attributes
            self.balanced()
        word = self.peek()
        if word in ("static_assert", "friend", "extern", "__extension__"):
            while self.peek() not in (";", "{"):
                self.balanced() if self.peek() in OPEN else self.advance()
            self.balanced() if self.peek() == "{" else self.advance()
            return None
        if word == "using":
            tokens = self.until_semicolon()
            if len(tokens) < 3 or tokens[2].text != "=":
                return None  # a name from elsewhere
            return Declaration("alias", tokens[1].text, line, comment, template, after=text_of(tokens[3:]),
                               has_template=has_template)
        if word == "enum":
            start = self.at
            while self.peek() not in ("{", ";"):
                self.at += 1
            head = text_of(self.tokens[start:self.at])
            body = self.balanced() if self.peek() == "{" else []
            name = re.sub(r"\s*:(?!:).*", "", head).split()[-1]
            self.until_semicolon()
            return Declaration("enum", "" if name == "enum" else name, line, comment, before=head,
                               members=enumerators_of(body[1:-1]))
        if word in ("struct", "class", "union"):
            return self.class_of(line, comment, template, has_template)
        return self.function_or_variable(owner, line, comment, template, has_template)

    def advance(self):
        self.at += 1

    @staticmethod
    def name_of_template_parameter(tokens):
        tokens = without_default(tokens)
        return tokens[-1].text if len(tokens) > 1 and tokens[-1].kind == "word" else ""

    def class_of(self, line, comment, template, has_template):
        word = self.peek()
        self.at += 1
        while self.peek() in ("[", "alignas"):
            self.at += self.peek() == "alignas"
            self.balanced()
        name = self.peek()
        self.at += 1
        is_specialised = self.peek() == "<"
        head = self.at
        while self.peek() not in ("{", ";"):
            self.angle() if self.peek() == "<" else self.advance()
        bases = re.findall(r"\bdetail::(\w+)", text_of(self.tokens[head:self.at]))
        if self.peek() == ";" or is_specialised:
            if self.peek() == "{":
                self.balanced()
            self.at += 1
            if comment and not is_specialised:  # all that there is are specialisations
                return Declaration("class", name, line, comment, template, word, has_template=has_template)
            return None
        self.at += 1
        members = self.scope(f"{word} {name}")
        self.until_semicolon()
        return Declaration("class", name, line, comment, template, word, members=members, bases=bases,
                           has_template=has_template)

    def function_or_variable(self, owner, line, comment, template, has_template):
        start = self.at
        is_friend = is_specialised = False
        while True:
            text = self.peek()
            is_friend = is_friend or text == "friend"
            if text == "operator":
                self.at += 1
                if self.peek() == "(":
                    self.at += 2
                else:
                    while self.peek() != "(":
                        self.at += 1
                break
            if text in ("(", ";", "=", "{", "["):
                break
            if text == "<":
                self.angle()
                is_specialised = self.peek() in ("=", "{")
            elif text == "__attribute__" or text == "alignas":
                self.at += 1
                self.balanced()
            else:
                if text == "":
                    raise ParseError(f"line {line}: no end of a declaration")
                self.at += 1
        head = self.tokens[start:self.at]
        if self.peek() != "(":
            rest = self.until_semicolon()
            if is_specialised:
                return None
            names = split_list(head)
            return [Declaration("variable", part[-1].text, line, comment, template, text_of(names[0][:-1]),
                                after=text_of(rest) if part is names[-1] else "", has_template=has_template)
                    for part in names]
        parameters = self.balanced()[1:-1]
        names = [token.text for token in head]
        if "operator" in names:
            at = names.index("operator")
            name = text_of(head[at:])
        else:
            at = len(head) - 1
            name = head[-1].text
        if at > 0 and names[at - 1] == "~":
            at, name = at - 1, "~" + name
        before = text_of(head[:at])
        after_start = self.at
        while self.peek() not in (";", "{", ":"):
            if self.peek() == "=":
                break
            self.balanced() if self.peek() in OPEN else self.advance()
        after = text_of(self.tokens[after_start:self.at])
        if self.peek() == "=":  # = default, = delete
            is_deleted = self.peek(1) == "delete"
            self.until_semicolon()
            if is_deleted:
                return None
        elif self.peek() == ";":
            self.at += 1
        else:
            if self.peek() == ":":  # a constructor's members
                self.at += 1
                while True:
                    while self.peek() not in ("(", "{"):
                        self.angle() if self.peek() == "<" else self.advance()
                    self.balanced()
                    if self.peek() == "...":
                        self.at += 1
                    if self.peek() != ",":
                        break
                    self.at += 1
            self.balanced()
        if is_friend or (not owner and after.startswith("->") and not before):  # a deduction guide
            return None
        found = Declaration("function", name, line, comment, template, before, after=after, has_template=has_template)
        found.parameters = [(text_of(part), name_of_parameter(part)) for part in split_list(parameters)
                            if text_of(part) != "void"]
        return found


def declarations_of(text, is_public_without_comment=True, inner=False):
    """(declarations, comment of the file). Without the first flag, only names with a comment are public; with the
    second, those of inner namespaces are there too."""
    parser = Parser(text, is_public_without_comment, inner)
    return parser.scope(), parser.file_comment
