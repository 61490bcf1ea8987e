import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../test/support/arbitrary-character.ts";
import { createConsoleStream, createTerminalStreams, escapeControlCharacters } from "./terminal-streams.ts";

function write(
  isTerminal: boolean,
  work: (streams: ReturnType<typeof createTerminalStreams>) => void,
): string {
  let written = "";
  const append = (text: string): void => void (written += text);
  work(createTerminalStreams({ out: append, err: append }, isTerminal));
  return written;
}

// oxlint-disable-next-line no-control-regex -- control characters are what must not be there
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

describe("output on a terminal", () => {
  it("has no control characters except tabs and line ends, whatever a command prints [SEC-37]", () => {
    fc.assert(
      fc.property(fc.string({ unit: arbitraryCharacter }), (text) => {
        const written = write(true, (streams) => {
          streams.out(text);
          streams.err(text);
          streams.outDocument(text);
        });
        expect(written).not.toMatch(CONTROL);
        expect(written.isWellFormed()).toBe(true);
      }),
    );
  });

  it("shows control sequences, links, and changes of the reading direction", () => {
    expect(escapeControlCharacters("\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007")).toBe(
      "␛]8;;https://evil.example␇link␛]8;;␇",
    );
    expect(escapeControlCharacters("file \u202egpj.exe\u2066\u009b2J\u007f\ud800")).toBe(
      "file \ufffdgpj.exe\ufffd\ufffd2J\ufffd\ufffd",
    );
  });

  it("keeps newlines, tabs, and the joiners of emoji", () => {
    expect(escapeControlCharacters("a\r\nb\n\tc 👩\u200d💻")).toBe("a\nb\n\tc 👩\u200d💻");
  });

  it("has only the colors of the CLI, and only where the CLI uses colors", () => {
    const text = "\u001b[36mblue\u001b[39m \u001b[2J\u001b]0;title\u0007 \u001b[1;";
    expect(write(true, (streams) => streams.outColored(text))).toBe(
      "\u001b[36mblue\u001b[39m ␛[2J␛]0;title␇ ␛[1;",
    );
    expect(write(true, (streams) => streams.out(text))).not.toContain("\u001b");
  });

  it("has printable lines of progress", () => {
    expect(write(true, (streams) => streams.errReplacingLine("a\u001b[2J\rb"))).toBe("\ra␛[2J␍b\u001b[K");
  });

  it("receives the console output of agents with colors, but without other control sequences", () => {
    let written = "";
    const stream = createConsoleStream({
      write: (chunk: string | Uint8Array) => {
        written += chunk.toString();
        return true;
      },
    });
    stream.write("\u001b[31mred\u001b[0m \u001b]52;c;Zm9v\u0007\n");
    expect(written).toBe("\u001b[31mred\u001b[0m ␛]52;c;Zm9v␇\n");
  });
});

it("a pipe receives a document unchanged", () => {
  const text = '{"text":"\u202e"}\r\n';
  expect(write(false, (streams) => streams.outDocument(text))).toBe(text);
});
