import { SharedTextEncoder } from "../../../observe/trace/recording/index.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import {
  findChromium,
  launchChromium,
  openPageRecordingRequestsAndErrors,
} from "../../../cards/html/browser.fixture.ts";
import { createScriptedRecordFileText } from "../../../cards/recording/recording.fixture.ts";
import { SCRIPTED_GSM8K_SAMPLES } from "../../../cards/recording/scripted-samples.fixture.ts";
import { EXAMPLE_RUN } from "../../../cards/experiments/recorder/example-run.fixture.ts";
import { createTempTestDirectoryWithFiles } from "../../cli-test-process.fixture.ts";
import { streamRecordingAsSse, startWatchServer, type WatchServer } from "../watch.ts";
import { followFile, type FileFollowEvent } from "./follow-file.ts";
import { getScriptArguments } from "../../../../test/support/fork-script.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0)) await one();
});

async function createEmptyFolder(): Promise<string> {
  const folder = await createTempTestDirectoryWithFiles({});
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function followRecord(file: string): () => Promise<FileFollowEvent | undefined> {
  const leave = new AbortController();
  const found = followFile(file, leave.signal);
  cleanups.unshift(() => (leave.abort(), found.return()));
  return async () => (await found.next()).value ?? undefined;
}

const getLines = (found: FileFollowEvent | undefined): readonly string[] | string =>
  typeof found === "object" ? found.lines : "reset";

describe("a followed file", () => {
  it("is awaited, and read while it grows", async () => {
    const file = `${await createEmptyFolder()}/run.cards.jsonl`;
    const next = followRecord(file);
    const first = next();
    await writeFile(file, "one\ntwo\n");
    expect(getLines(await first)).toEqual(["one", "two"]);
    await appendFile(file, "three\n");
    expect(getLines(await next())).toEqual(["three"]);
  });

  it("yields only complete lines, even if a character is split", async () => {
    const file = `${await createEmptyFolder()}/run.cards.jsonl`;
    const bytes = Buffer.from("하나\n둘\n");
    await writeFile(file, bytes.subarray(0, 2));
    const next = followRecord(file);
    const first = next();
    await appendFile(file, bytes.subarray(2, 8));
    expect(getLines(await first)).toEqual(["하나"]);
    const second = next();
    await appendFile(file, bytes.subarray(8));
    expect(getLines(await second)).toEqual(["둘"]);
  });

  it("is read from the start after a truncation or a replacement", async () => {
    const folder = await createEmptyFolder();
    const file = `${folder}/run.cards.jsonl`;
    await writeFile(file, "one\ntwo\n");
    const next = followRecord(file);
    expect(getLines(await next())).toEqual(["one", "two"]);
    await truncate(file, 0);
    expect(await next()).toBe("reset");
    await appendFile(file, "new\n");
    expect(getLines(await next())).toEqual(["new"]);
    await writeFile(`${folder}/other`, "the other file\n");
    await rename(`${folder}/other`, file);
    expect(await next()).toBe("reset");
    expect(getLines(await next())).toEqual(["the other file"]);
  });

  it("is read in chunks of limited size", async () => {
    const file = `${await createEmptyFolder()}/run.cards.jsonl`;
    const line = "x".repeat(99_999);
    await writeFile(file, `${line}\n`.repeat(12));
    const next = followRecord(file);
    let lines = 0;
    while (lines < 12) {
      const found = getLines(await next());
      expect(found.length).toBeLessThan(4);
      lines += found.length;
    }
    expect(lines).toBe(12);
  });
});

describe("the events of a record", () => {
  async function eventsOf(text: string): Promise<() => Promise<string>> {
    const file = `${await createEmptyFolder()}/run.cards.jsonl`;
    await writeFile(file, text);
    const leave = new AbortController();
    const events = streamRecordingAsSse(file, leave.signal);
    cleanups.unshift(() => (leave.abort(), events.return()));
    expect((await events.next()).value).toBe("event: reset\ndata: \n\n");
    return async () => (await events.next()).value ?? "";
  }

  it("contain the readable lines, and the number of unreadable lines", async () => {
    const [, run = "", card = ""] = createScriptedRecordFileText().split("\n");
    const next = await eventsOf(
      `${run}\n{"half\n{"v":1,"kind":"score","run_id":"r"}\n{"other":true}\n${card}\n`,
    );
    expect(await next()).toBe("event: torn\ndata: 2\n\n");
    const lines = await next();
    expect(lines).toContain(`event: lines\ndata: [${run},${card}]\n`);
  });

  it("contain the long texts of their lines", async () => {
    const text = "x".repeat(1_000);
    const line =
      createScriptedRecordFileText()
        .split("\n")
        .find((one) => one.includes('"kind":"end"')) ?? "";
    const long = line.replace('"end","', `"end","note":"${text}","`);
    const next = await eventsOf(`${new SharedTextEncoder().encode(long)}\n`);
    expect(await next()).toContain(text);
  });

  it("belong to a single run", async () => {
    const next = await eventsOf(
      createScriptedRecordFileText() +
        createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { run_id: "another" }),
    );
    expect(await next()).not.toContain("another");
  });
});

async function startWatching(file: string): Promise<WatchServer> {
  const server = await startWatchServer({ file, title: "run", port: 0 });
  cleanups.unshift(() => server.close());
  return server;
}

/** Sends a request with any headers, including those that `fetch` forbids. */
function requestStatus(
  url: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers, method }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

describe("the server of a watched record", () => {
  it("accepts only requests with the secret path, the right host, and the right origin", async () => {
    const { url } = await startWatching(`${await createEmptyFolder()}/run.cards.jsonl`);
    const { origin, host } = new URL(url);
    expect(new URL(url).hostname).toBe("127.0.0.1");
    expect(await requestStatus(url)).toBe(200);
    expect(await requestStatus(url, { origin })).toBe(200);
    expect(await requestStatus(`${origin}/`)).toBe(404);
    expect(await requestStatus(`${origin}/guess/events`)).toBe(404);
    expect(await requestStatus(`${url}../`)).toBe(404);
    expect(await requestStatus(`${url}other`)).toBe(404);
    expect(await requestStatus(url, { host: "attacker.example" })).toBe(403);
    expect(await requestStatus(url, { host: host.replace("127.0.0.1", "localhost") })).toBe(403);
    expect(await requestStatus(`${url}events`, { origin: "https://attacker.example" })).toBe(403);
    expect(await requestStatus(`${url}events`, { origin: "null" })).toBe(403);
    expect(await requestStatus(url, {}, "POST")).toBe(405);
  });

  it("closes despite open streams", async () => {
    const server = await startWatchServer({
      file: `${await createEmptyFolder()}/run.cards.jsonl`,
      title: "",
      port: 0,
    });
    const response = await fetch(`${server.url}events`);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await server.close();
    await expect(response.text()).rejects.toThrow();
  });
});

/** Moves the times of a record to a later time, because a run without new lines counts as quiet. */
function dateRecord(text: string, timeMs: number): string {
  return text.replaceAll(/"at":"[^"]+"/g, `"at":"${new Date(timeMs).toISOString()}"`);
}
const LATER_MS = Date.now() + 3_600_000;

describe.skipIf(findChromium() === undefined)("the page of a watched record", () => {
  it("says that a run was killed after its process was killed, and not that the run is running", async () => {
    const folder = await createEmptyFolder();
    const writer = getScriptArguments(
      new URL("../../../cards/experiments/recorder/run-writer-process.fixture.ts", import.meta.url),
    );
    const { url } = await startWatching(`${folder}/${EXAMPLE_RUN.run_id}.cards.jsonl`);
    const browser = await launchChromium();
    cleanups.unshift(() => browser.close());
    const { page } = await openPageRecordingRequestsAndErrors(browser, url);
    const killed = spawn(process.execPath, [...writer, folder, "3"], { stdio: "ignore" });
    await once(killed, "exit");
    expect(killed.signalCode).toBe("SIGKILL");
    await page.locator("#run .state.interrupted").waitFor();
    expect(await page.locator("#run .state").innerText()).toBe("killed: no recorded end");
  });

  it("says how long a run without a known writer is quiet", async () => {
    const file = `${await createEmptyFolder()}/run.cards.jsonl`;
    const { url } = await startWatching(file);
    const browser = await launchChromium();
    cleanups.unshift(() => browser.close());
    const { page } = await openPageRecordingRequestsAndErrors(browser, url);
    const [, run = "", card = ""] = dateRecord(createScriptedRecordFileText(), LATER_MS).split("\n");
    await writeFile(file, `${run}\n${card}\n`);
    await page
      .locator("#run .state")
      .filter({ hasText: /^running$/ })
      .waitFor();
    await writeFile(file, "");
    await page.locator("#run .state").filter({ hasText: "waiting for the run to start" }).waitFor();
    await writeFile(file, dateRecord(`${run}\n${card}\n`, Date.now() - 90_000));
    await page.locator("#run .state.quiet").waitFor();
    expect(await page.locator("#run .state").innerText()).toMatch(
      /^no new line for 1 min \d+ s: killed or waiting$/,
    );
  });

  it("waits for the run, grows with it, and keeps the user's selection", async () => {
    const file = `${await createEmptyFolder()}/run.cards.jsonl`;
    const { url } = await startWatching(file);
    const browser = await launchChromium();
    cleanups.unshift(() => browser.close());
    const { page, errors } = await openPageRecordingRequestsAndErrors(browser, url);
    const state = page.locator("#run .state");
    expect(await state.innerText()).toBe("waiting for the run to start");

    const lines = dateRecord(createScriptedRecordFileText(), LATER_MS).split("\n");
    const scored = lines.findIndex((line) => line.includes(`"kind":"score"`));
    await writeFile(file, `${lines.slice(0, 4).join("\n")}\n${lines[4]?.slice(0, 30)}`);
    await page.getByRole("option", { name: "gsm8k_0" }).click();
    expect(await state.innerText()).toBe("running");
    const before = await page.locator(".sequence .message").count();
    await page.locator(".sequence .message").first().click();

    await appendFile(file, `${lines[4]?.slice(30)}\n${lines.slice(5, scored + 1).join("\n")}\n`);
    await page.locator("#head .verdict.correct").waitFor();
    expect(await page.locator(".sequence .message").count()).toBe(6);
    expect(before).toBeLessThan(6);
    expect(await page.locator("#card h2").innerText()).toBe("Card 1");

    await appendFile(file, lines.slice(scored + 1).join("\n"));
    await page.locator("#run .state.completed").waitFor();
    expect(await page.locator("#sample-title").innerText()).toBe("gsm8k_0");

    await truncate(file, 0);
    await page.locator("#run .state.running").waitFor();
    expect(await state.innerText()).toBe("waiting for the run to start");
    expect(errors).toEqual([]);
  });
});
