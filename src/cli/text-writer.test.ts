import { describe, expect, it } from "vitest";
import { createTerminalStreams } from "./terminal-streams.ts";
import { renderJson, TextWriter } from "./text-writer.ts";

function captureText(write: (writer: TextWriter) => void): string {
  let text = "";
  const streams = createTerminalStreams({ out: (more) => void (text += more), err: () => {} }, true);
  const writer = new TextWriter((more) => streams.out(more));
  write(writer);
  writer.closeBlock();
  return text;
}

describe("text output", () => {
  it("has one field per line, whatever the value", () => {
    const text = captureText((writer) => {
      writer.writeField("Name", "two\nlines\tand a tab");
      writer.writeField("Total", 3);
    });
    expect(text).toBe("Name: two lines and a tab\nTotal: 3\n");
  });

  it("closes a block with a blank line before the next field", () => {
    const text = captureText((writer) => {
      writer.writeBlock("Artifact", "answer", "one\ntwo");
      writer.writeBlock("Data", "answer", "{}\n");
      writer.appendToBlock("Artifact", "answer", "a-1", "streamed");
      writer.writeField("State", "TASK_STATE_COMPLETED");
    });
    expect(text).toBe(
      "Artifact: answer\none\ntwo\n\nData: answer\n{}\n\nArtifact: answer\nstreamed\n\nState: TASK_STATE_COMPLETED\n",
    );
  });

  it("grows the block of an artifact chunk by chunk, and opens another for another artifact", () => {
    const text = captureText((writer) => {
      writer.appendToBlock("Artifact", "answer", "a-1", "Hel");
      writer.appendToBlock("Artifact", "answer", "a-1", "lo");
      writer.appendToBlock("Artifact", "log", "a-2", "x");
    });
    expect(text).toBe("Artifact: answer\nHello\n\nArtifact: log\nx\n\n");
  });

  it("lets no control sequence through to a terminal", () => {
    const text = captureText((writer) => {
      writer.writeField("Name", "\u001b[31mred\u001b[0m");
      writer.writeBlock("Artifact", "a", "\u001b]0;title\u0007over\rwritten\u009b2J");
    });
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(text).toContain("␛[31mred␛[0m");
  });

  it("escapes them in JSON, too, without changing the value", () => {
    const parsed = { text: "\u001b[2J\u009b31m\u202egpj\u2028", more: ["어떤"] };
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(renderJson(parsed)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
    expect(JSON.parse(renderJson(parsed, 2))).toEqual(parsed);
  });
});
