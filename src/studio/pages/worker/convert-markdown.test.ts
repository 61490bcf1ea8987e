import { describe, expect, it } from "vitest";
import { convertMarkdown } from "./convert-markdown.ts";
import { MAX_MARKDOWN_LENGTH } from "./markdown-length.ts";

const toText = (html: string | undefined): string | undefined => html?.replaceAll(/<[^>]*>/g, "").trim();

describe("Markdown of a stranger", () => {
  it("becomes HTML, whose tags are text", () => {
    expect(convertMarkdown("# A *b* <img src=x>\n\n- [c](https://d.example)\n\n|e|\n|-|\n|f|")).toBe(
      `<h1>A <em>b</em> &lt;img src=x&gt;</h1>\n<ul>\n<li><a href="https://d.example">c</a></li>\n</ul>\n` +
        `<table>\n<thead>\n<tr>\n<th>e</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>f</td>\n</tr>\n</tbody></table>\n`,
    );
  });

  it("becomes HTML with a class for each kind of word of code, whose tags are text", () => {
    expect(convertMarkdown("```ts title\nconst a = '<b>';\n```")).toBe(
      `<pre><code><span class="hljs-keyword">const</span> a = <span class="hljs-string">&#x27;&lt;b&gt;&#x27;</span>;\n</code></pre>\n`,
    );
    expect(convertMarkdown("```unknown\n<b>\n```")).toBe("<pre><code>&lt;b&gt;\n</code></pre>\n");
  });

  it("leaves code without colors if its words are too long, or all code is", () => {
    const toBlock = (code: string): string => `\`\`\`ts\n${code}\n\`\`\`\n\n`;
    expect(convertMarkdown(toBlock(`1;${"a".repeat(100)}`))).not.toContain("hljs");
    expect(convertMarkdown(toBlock("1;".repeat(4_000)).repeat(2))?.match(/hljs/g)).toHaveLength(4_000);
  });

  it("becomes HTML if it is a long report", () => {
    const section =
      "## Part\n\nA **bold** claim, `code`, and [a link](https://d.example/x_y) about snake_case.\n\n";
    const quote = "> - first\n>   1. second\n>      > third\n\n```ts\nconst a_b = c_d * e;\n```\n\n";
    expect(convertMarkdown((section + quote).repeat(150))).toContain("<strong>bold</strong>");
  });

  it.each([
    ["alternating delimiters", "_*a".repeat(6_700)],
    ["brackets with delimiters", "[*a".repeat(6_700)],
    ["nested quotes", ">".repeat(20_000)],
    ["nested quotes with spaces", "> ".repeat(10_000)],
    ["nested lists", "- ".repeat(10_000) + "a"],
    ["nested numbered lists", "1. ".repeat(7_000) + "a"],
    [
      "lists that are nested by their indentation",
      Array.from({ length: 100 }, (_, at) => `${"  ".repeat(at)}- a`).join("\n"),
    ],
    ["links that repeat a long target", `[a]: /${"x".repeat(10_000)}\n\n${"[a]\n\n".repeat(1_400)}`],
    ["many small pieces", "a\n".repeat(5_000)],
    ["a long text", "a".repeat(MAX_MARKDOWN_LENGTH + 1)],
  ])("stays plain text if it consists of %s [SEC-86]", (_, text) => {
    expect(convertMarkdown(text)).toBeUndefined();
  });

  it("keeps its text if it has as many levels as people write", () => {
    expect(toText(convertMarkdown(`${"> ".repeat(10)}deep`))).toBe("deep");
    expect(toText(convertMarkdown(`- a\n${"  ".repeat(1)}- b\n${"  ".repeat(2)}- c`))).toMatch(/a\s*b\s*c/);
  });
});
