import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openCassette } from "./index.ts";

const URL_OF_MODEL = "https://model.example/v1/chat?key=secret";
const ask = (question: string): RequestInit => ({
  method: "POST",
  headers: { authorization: "Bearer secret" },
  body: JSON.stringify({ question }),
});

/** A model that numbers its answers. */
function createModel(): typeof fetch {
  let count = 0;
  return () => Promise.resolve(Response.json({ answer: ++count }));
}

const offline: typeof fetch = () => Promise.reject(new Error("no network"));

describe("a cassette", () => {
  let file: string;
  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), "colloquy-cassette-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    file = join(folder, "model.json");
  });

  it("replays the recorded responses in order without the model, and without secrets in the file", async () => {
    const recorder = await openCassette(file, { mode: "append", fetch: createModel() });
    for (const question of ["a", "b", "a"]) await recorder.fetch(URL_OF_MODEL, ask(question));
    const player = await openCassette(file, { mode: "replay", fetch: offline });
    const answers = [];
    for (const question of ["a", "b", "a", "a"])
      answers.push(await (await player.fetch(URL_OF_MODEL, ask(question))).json());
    expect(answers).toEqual([{ answer: 1 }, { answer: 2 }, { answer: 3 }, { answer: 3 }]);
    expect(await readFile(file, "utf8")).not.toContain("secret");
    await expect(player.fetch(URL_OF_MODEL, ask("c"))).rejects.toThrow(
      /contains no response to POST \/v1\/chat/,
    );
  });

  it("answers the next request with an error on demand, and records no error", async () => {
    const cassette = await openCassette(file, { mode: "record", fetch: createModel() });
    cassette.failNext(429);
    expect((await cassette.fetch(URL_OF_MODEL, ask("a"))).status).toBe(429);
    expect((await cassette.fetch(URL_OF_MODEL, ask("a"))).status).toBe(200);
    expect(JSON.parse(await readFile(file, "utf8"))).toHaveLength(1);
  });

  it("records requests that are sent at the same time", async () => {
    const recorder = await openCassette(file, { mode: "record", fetch: createModel() });
    const questions = Array.from({ length: 100 }, (_, index) => "x".repeat(100 * index));
    await Promise.all(questions.map((question) => recorder.fetch(URL_OF_MODEL, ask(question))));
    const player = await openCassette(file, { mode: "replay", fetch: offline });
    for (const question of questions)
      expect((await player.fetch(URL_OF_MODEL, ask(question))).status).toBe(200);
  });

  it("refuses a file that is no cassette", async () => {
    await writeFile(file, "[{}]");
    await expect(openCassette(file)).rejects.toThrow(/is no cassette/);
  });
});
