import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import {
  createTrafficWriter,
  openTrafficFileSink,
  openTrafficRecord,
  readTrafficFile,
  type ReadTrafficLine,
} from "./index.ts";
import { expectFileMode } from "../../../../test/support/is-windows.ts";

let file: string;

beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "traffic-")), "record.jsonl");
});

async function readAll(path: string): Promise<ReadTrafficLine[]> {
  const lines: ReadTrafficLine[] = [];
  for await (const line of readTrafficFile(path)) lines.push(line);
  return lines;
}

function listKinds(lines: readonly ReadTrafficLine[]): string[] {
  return lines.map((line) => (line.type === "traffic" ? line.line.kind : line.type));
}

describe("a record in a file", () => {
  it("is readable only by its user", async () => {
    const { writer, close } = openTrafficRecord(file, { vantage: "client", name: "test" });
    writer.write({ kind: "turn", task_id: "t1", phase: "begin" });
    await close();
    expectFileMode(file, 0o600);
    expect(listKinds(await readAll(file))).toEqual(["writer", "turn"]);
  });

  it("stores lines at once, and then waits 10 ms, so that the writer collects the next lines", async () => {
    const sink = openTrafficFileSink(file);
    const startMs = performance.now();
    const written = sink.write('{"v":1}\n', '{"v":1,"kind":"writer"}\n');
    await expect
      .poll(() => existsSync(file) && readFileSync(file, "utf8"), { interval: 1 })
      .toContain('{"v":1}\n');
    await written;
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(9);
    await sink.close();
  });

  it("begins a new file at the limit, repeats the writer line, and deletes the oldest file", async () => {
    const { writer, close } = openTrafficRecord(
      { file, maxBytes: 2_000, maxFiles: 3 },
      { vantage: "server", name: "test" },
    );
    for (let at = 0; at < 60; at++) {
      writer.write({ kind: "turn", task_id: `t${at}`, phase: "begin" });
      await writer.flush();
    }
    await close();
    expect(readdirSync(join(file, "..")).toSorted()).toEqual([
      "record.jsonl",
      "record.jsonl.1",
      "record.jsonl.2",
    ]);
    for (const name of [file, `${file}.1`, `${file}.2`]) {
      expect(statSync(name).size).toBeLessThanOrEqual(2_400);
      expect(readFileSync(name, "utf8")).toMatch(/^\{"v":1,"kind":"writer"/);
    }
    const tasks = (await readAll(file)).flatMap((line) =>
      line.type === "traffic" && line.line.kind === "turn" ? [Number(line.line.task_id.slice(1))] : [],
    );
    expect(tasks).toEqual(tasks.toSorted((a, b) => a - b));
    expect(tasks.at(-1)).toBe(59);
  });

  it("continues after a line that a killed writer left incomplete", async () => {
    writeFileSync(file, '{"v":1,"kind":"tu');
    const { writer, close } = openTrafficRecord(file, { vantage: "server", name: "test" });
    writer.write({ kind: "turn", task_id: "t1", phase: "begin" });
    await close();
    appendFileSync(file, '{"v":1,"ki');
    expect(listKinds(await readAll(file))).toEqual(["unreadable", "writer", "turn", "unreadable"]);
  });

  it("is shared by the writers of a process", async () => {
    const limits = { maxBytes: 1_000, maxFiles: 100 };
    const writers = ["a", "b"].map((name) =>
      createTrafficWriter(openTrafficFileSink(file, limits), { vantage: "client", name }),
    );
    for (let at = 0; at < 30; at++) {
      for (const writer of writers) writer.write({ kind: "turn", task_id: `t${at}`, phase: "begin" });
      await Promise.all(writers.map((writer) => writer.flush()));
    }
    await Promise.all(writers.map((writer) => writer.close()));
    const kinds = listKinds(await readAll(file));
    expect(kinds.filter((kind) => kind === "turn")).toHaveLength(60);
    expect(kinds.filter((kind) => kind === "unreadable")).toHaveLength(0);
  });

  it("reads compressed files and lines of other formats", async () => {
    const card = '{"v":1,"kind":"card","run_id":"r"}';
    writeFileSync(`${file}.1.gz`, gzipSync(`${card}\n\n[]\n`));
    writeFileSync(file, `${card}\n`);
    expect(listKinds(await readAll(file))).toEqual(["other", "unreadable", "other"]);
  });

  it("reads a file that an editor saved with a byte order mark and Windows line ends", async () => {
    const lines = ["first", "second"].map((name) => JSON.stringify({ v: 1, kind: name }));
    writeFileSync(file, `\uFEFF${lines.join("\r\n")}\r\n\r\n`);
    expect(listKinds(await readAll(file))).toEqual(["other", "other"]);
  });

  it("rejects if the file does not exist", async () => {
    await expect(readAll(join(file, "..", "missing.jsonl"))).rejects.toThrow("ENOENT");
  });
});
