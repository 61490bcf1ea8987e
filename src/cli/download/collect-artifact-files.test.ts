import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import type { Part } from "../../protocol/index.ts";
import { collectArtifactFiles } from "./collect-artifact-files.ts";

const listFileNames = (...names: string[]): string[] =>
  collectArtifactFiles({
    artifacts: [{ artifactId: "a", parts: names.map((filename) => ({ raw: "eA==", filename })) }],
  }).files.map(({ name }) => name);

describe("the files of artifacts", () => {
  it("have the agent's file names, made unique", () => {
    expect(listFileNames("report.pdf", "report.pdf", "Report.PDF", "data")).toEqual([
      "report.pdf",
      "report-2.pdf",
      "Report-3.PDF",
      "data",
    ]);
  });

  it("are named after the artifact and the media type without a file name", () => {
    const parts: Part[] = [
      { text: "hi" },
      { text: "# hi", mediaType: "text/markdown" },
      { data: { a: 1 } },
      { raw: "eA==" },
    ];
    const { files } = collectArtifactFiles({ artifacts: [{ artifactId: "a1", name: "the answer", parts }] });
    expect(files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([
      ["the answer.txt", "hi"],
      ["the answer.md", "# hi"],
      ["the answer.json", '{\n  "a": 1\n}\n'],
      ["the answer.bin", "x"],
    ]);
  });

  it("never have names that leave the directory, are hidden, or contain control characters [SEC-38]", () => {
    expect(
      listFileNames(
        "../../etc/passwd",
        "..\\..\\boot.ini",
        "/etc/shadow",
        ".bashrc",
        "a\u001b[2Jb",
        "..",
        "/",
      ),
    ).toEqual(["passwd", "boot.ini", "shadow", "bashrc", "a_[2Jb", "a.bin", "a-2.bin"]);
    assert(
      property(string({ unit: arbitraryCharacter }), (name) => {
        const [file = ""] = listFileNames(name);
        // oxlint-disable-next-line no-control-regex -- that is what must not be there
        expect(file).not.toMatch(/[\\/\u0000-\u001f]|^\./);
        expect(file).not.toBe("");
      }),
    );
  });

  it("never have names that a shell, Windows, or a reader misunderstands", () => {
    expect(
      listFileNames(
        "-rf",
        "--force.txt",
        "~root",
        "NUL",
        "con.txt",
        "COM1.log",
        "aux .txt",
        "a. . .",
        "photo\u202egpj.exe",
      ),
    ).toEqual([
      "rf",
      "force.txt",
      "root",
      "_NUL",
      "_con.txt",
      "_COM1.log",
      "_aux .txt",
      "a",
      "photo_gpj.exe",
    ]);
    assert(
      property(string({ unit: arbitraryCharacter, maxLength: 400 }), (name) => {
        const [file = ""] = listFileNames(name);
        expect(file).not.toMatch(/^[-.~\s]|[.\s]$|[\u202a-\u202e\u2066-\u2069<>:"|?*]/);
        expect(file).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
        expect(file.isWellFormed()).toBe(true);
      }),
    );
  });

  it("have names of at most 255 bytes, also if their names are equal", () => {
    for (const name of listFileNames("😀".repeat(300), "😀".repeat(300), `${"é".repeat(300)}.txt`))
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  });

  it("get different names, also if an agent sends very many equal names", () => {
    const names = listFileNames(...Array.from({ length: 20_000 }, () => "a.txt"), "A-2.TXT");
    expect(names.slice(0, 3)).toEqual(["a.txt", "a-2.txt", "a-3.txt"]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(20_001);
  });

  it("are never fetched from an agent's URLs", () => {
    const parts = [{ url: "http://169.254.169.254/secret" }];
    expect(collectArtifactFiles({ artifacts: [{ artifactId: "a", parts }] })).toEqual({
      files: [],
      links: [{ artifactId: "a", url: "http://169.254.169.254/secret" }],
    });
  });
});
