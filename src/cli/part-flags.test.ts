import { join } from "node:path";
import { Readable } from "node:stream";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import type { Part } from "../protocol/index.ts";
import { createTempTestDirectoryWithFiles } from "./cli-test-process.fixture.ts";
import { PartFlags } from "./part-flags.ts";

async function parseParts(argv: string[], stdin = ""): Promise<Part[]> {
  const flags = new PartFlags();
  const command = new Command().argument("[words...]").exitOverride();
  for (const option of flags.createOptions()) command.addOption(option);
  command.parse(argv, { from: "user" });
  return flags.buildParts(command.args, Readable.from([stdin]));
}

async function createFile(name: string, content: string): Promise<string> {
  return join(await createTempTestDirectoryWithFiles({ [name]: content }), name);
}

describe("the parts of a message", () => {
  it("are the arguments as one text, followed by the flags in order [SEND_006]", async () => {
    const file = await createFile("note.md", "# hi");
    expect(await parseParts(["hello", "you", "--data", "[1]", "--file", file, "--text", "bye"])).toEqual([
      { text: "hello you" },
      { data: [1] },
      { raw: "IyBoaQ==", filename: "note.md", mediaType: "text/markdown" },
      { text: "bye" },
    ]);
  });

  it("use the following --media-type instead of the file extension [SEND_005]", async () => {
    const file = await createFile("report.bin", "x");
    expect(await parseParts(["--file", file, "--media-type", "application/pdf", "--text", "t"])).toEqual([
      { raw: "eA==", filename: "report.bin", mediaType: "application/pdf" },
      { text: "t" },
    ]);
  });

  it("refer to a URL without fetching it", async () => {
    expect(await parseParts(["--file", "https://example.com/a/b.png?x=1"])).toEqual([
      { url: "https://example.com/a/b.png?x=1", filename: "b.png", mediaType: "image/png" },
    ]);
  });

  it("read data from a file, from stdin, or from the flag", async () => {
    const file = await createFile("a.json", '{"from":"file"}');
    expect(
      await parseParts(["--data", file, "--data", "-", "--data", '{"here":1}'], '{"from":"stdin"}'),
    ).toEqual([{ data: { from: "file" } }, { data: { from: "stdin" } }, { data: { here: 1 } }]);
  });

  it("read data from a file that an editor saved with a byte order mark", async () => {
    const file = await createFile("order.json", '\uFEFF{"id":1}\r\n');
    expect(await parseParts(["--data", file])).toEqual([{ data: { id: 1 } }]);
  });

  it("refuse a URL that is not valid as a wrong command line", async () => {
    await expect(parseParts(["--file", "http://"])).rejects.toMatchObject({ code: "A2ACLI_ERR_USAGE" });
  });

  it("read the text from stdin for a lone dash", async () => {
    expect(await parseParts(["-"], "piped")).toEqual([{ text: "piped" }]);
  });

  it.each([
    [[], "nothing to send"],
    [["--media-type", "text/plain"], "before it"],
    [["--data", "{not json"], "is not JSON"],
    [["--data", "no-such-file.json"], "neither JSON nor a file"],
    [["--file", "no-such-file.pdf"], "cannot be read"],
  ])("%j is refused", async (argv, message) => {
    await expect(parseParts(argv)).rejects.toThrow(message);
  });
});
