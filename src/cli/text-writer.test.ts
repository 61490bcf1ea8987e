import { describe, expect, it } from "vitest";
import { renderJson, escapeControlCharacters, TextWriter } from "./text-writer.ts";

function captureText(write: (page: TextWriter) => void): string {
  let text = "";
  const page = new TextWriter((more) => {
    text += more;
  });
  write(page);
  page.closeBlock();
  return text;
}

describe("text output", () => {
  it("has one field per line, whatever the value", () => {
    const text = captureText((page) => {
      page.writeField("Name", "two\nlines\tand a tab");
      page.writeField("Total", 3);
    });
    expect(text).toBe("Name: two lines and a tab\nTotal: 3\n");
  });

  it("closes a block with a blank line before the next field", () => {
    const text = captureText((page) => {
      page.writeBlock("Artifact", "answer", "one\ntwo");
      page.writeBlock("Data", "answer", "{}\n");
      page.appendToBlock("Artifact", "answer", "a-1", "streamed");
      page.writeField("State", "TASK_STATE_COMPLETED");
    });
    expect(text).toBe(
      "Artifact: answer\none\ntwo\n\nData: answer\n{}\n\nArtifact: answer\nstreamed\n\nState: TASK_STATE_COMPLETED\n",
    );
  });

  it("grows the block of an artifact chunk by chunk, and opens another for another artifact", () => {
    const text = captureText((page) => {
      page.appendToBlock("Artifact", "answer", "a-1", "Hel");
      page.appendToBlock("Artifact", "answer", "a-1", "lo");
      page.appendToBlock("Artifact", "log", "a-2", "x");
    });
    expect(text).toBe("Artifact: answer\nHello\n\nArtifact: log\nx\n\n");
  });

  it("lets no control sequence through to a terminal", () => {
    const text = captureText((page) => {
      page.writeField("Name", "\u001b[31mred\u001b[0m");
      page.writeBlock("Artifact", "a", "\u001b]0;title\u0007over\rwritten\u009b2J");
    });
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(text).toContain("␛[31mred␛[0m");
  });

  it("replaces characters that change the reading direction", () => {
    expect(escapeControlCharacters("file \u202egpj.exe\u2066")).toBe("file \ufffdgpj.exe\ufffd");
  });

  it("escapes them in JSON, too, without changing the value", () => {
    const said = { text: "\u001b[2J\u009b31m\u202egpj\u2028", more: ["어떤"] };
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(renderJson(said)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
    expect(JSON.parse(renderJson(said, 2))).toEqual(said);
  });

  it("keeps newlines and tabs, in either convention", () => {
    expect(escapeControlCharacters("a\r\nb\n\tc")).toBe("a\nb\n\tc");
  });
});
