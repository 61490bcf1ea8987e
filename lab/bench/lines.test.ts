import { expect, it } from "vitest";
import { countCodeLines } from "./lines.ts";

it("counts lines that contain code", () => {
  expect(countCodeLines("const a = 1;\n\nconst b = 2; // two\n")).toBe(2);
});

it("does not count comments, also when a comment starts and ends beside code", () => {
  expect(countCodeLines("/**\n * A.\n */\nconst a = 1; /* one\n two */ const b = 2;\n// end\n")).toBe(2);
});

it("counts strings, template literals, and regular expressions that look like comments", () => {
  expect(
    countCodeLines(
      'const url = "https://a";\nconst text = `\n// line\n/* line */\n\n`;\nconst slash = /\\/\\//;\n',
    ),
  ).toBe(6);
});

it("counts comments of expressions inside of template literals as comments", () => {
  expect(countCodeLines("const a = `${\n  // the value\n  1\n}`;\n")).toBe(3);
});

it("parses JSX in tsx files", () => {
  expect(countCodeLines("const a = <p>\n  {/* nothing */}\n  // text\n</p>;\n", "a.tsx")).toBe(4);
});
