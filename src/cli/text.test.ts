import { describe, expect, it } from "vitest";
import { jsonText, printable, TextPage } from "./text.ts";

function written(write: (page: TextPage) => void): string {
  let text = "";
  const page = new TextPage((more) => {
    text += more;
  });
  write(page);
  page.close();
  return text;
}

describe("text output", () => {
  it("has one field per line, whatever the value", () => {
    const text = written((page) => {
      page.field("Name", "two\nlines\tand a tab");
      page.field("Total", 3);
    });
    expect(text).toBe("Name: two lines and a tab\nTotal: 3\n");
  });

  it("closes a block with a blank line, and no field stands inside one", () => {
    const text = written((page) => {
      page.block("Artifact", "answer", "one\ntwo");
      page.block("Data", "answer", "{}\n");
      page.grow("Artifact", "answer", "a-1", "streamed");
      page.field("State", "TASK_STATE_COMPLETED");
    });
    expect(text).toBe(
      "Artifact: answer\none\ntwo\n\nData: answer\n{}\n\nArtifact: answer\nstreamed\n\nState: TASK_STATE_COMPLETED\n",
    );
  });

  it("grows the block of an artifact chunk by chunk, and opens another for another artifact", () => {
    const text = written((page) => {
      page.grow("Artifact", "answer", "a-1", "Hel");
      page.grow("Artifact", "answer", "a-1", "lo");
      page.grow("Artifact", "log", "a-2", "x");
    });
    expect(text).toBe("Artifact: answer\nHello\n\nArtifact: log\nx\n\n");
  });

  it("lets no control sequence through to a terminal", () => {
    const text = written((page) => {
      page.field("Name", "\u001b[31mred\u001b[0m");
      page.block("Artifact", "a", "\u001b]0;title\u0007over\rwritten\u009b2J");
    });
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(text).toContain("␛[31mred␛[0m");
  });

  it("lets nobody turn the order of letters around", () => {
    expect(printable("file \u202egpj.exe\u2066")).toBe("file \ufffdgpj.exe\ufffd");
  });

  it("lets none through in JSON either, which stays the same value", () => {
    const said = { text: "\u001b[2J\u009b31m\u202egpj\u2028", more: ["어떤"] };
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(jsonText(said)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
    expect(JSON.parse(jsonText(said, 2))).toEqual(said);
  });

  it("keeps newlines and tabs, in either convention", () => {
    expect(printable("a\r\nb\n\tc")).toBe("a\nb\n\tc");
  });
});
