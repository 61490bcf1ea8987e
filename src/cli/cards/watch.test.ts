import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import {
  findChromium,
  launchChromium,
  openPageRecordingRequestsAndErrors,
} from "../../cards/html/browser.fixture.ts";
import { createScriptedRecordFileText } from "../../cards/recording/recording.fixture.ts";
import { EXAMPLE_RUN } from "../../cards/experiments/recorder/example-run.fixture.ts";
import { createTempTestDirectoryWithFiles } from "../cli-test-process.fixture.ts";
import { startWatchServer, type WatchServer } from "./watch.ts";
import { getScriptArguments } from "../../../test/support/fork-script.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0)) await one();
});

async function createEmptyFolder(): Promise<string> {
  const folder = await createTempTestDirectoryWithFiles({});
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

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

/** Requests the lines of a record as the page does, and returns them with the position of the next request. */
async function requestLines(
  url: string,
  { id = "", end = 0 } = {},
): Promise<{ id: string; start: number; end: number; text: string }> {
  const response = await fetch(`${url}lines?file=${id}&after=${end}`);
  const start = Number(response.headers.get("x-record-start"));
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    id: response.headers.get("x-record-file") ?? "",
    start,
    end: start + bytes.length,
    text: new TextDecoder().decode(bytes),
  };
}

describe("the lines of a watched record", () => {
  it("are complete, also if the file does not exist yet, or if a character is split", async () => {
    const file = `${await createEmptyFolder()}/run.cards.jsonl`;
    const { url } = await startWatching(file);
    const missing = await requestLines(url);
    expect(missing).toEqual({ id: "", start: 0, end: 0, text: "" });
    const bytes = Buffer.from("하나\n둘\n");
    await writeFile(file, bytes.subarray(0, 8));
    const first = await requestLines(url, missing);
    expect(first).toMatchObject({ start: 0, text: "하나\n" });
    expect(await requestLines(url, first)).toMatchObject({ start: 7, text: "" });
    await appendFile(file, bytes.subarray(8));
    expect(await requestLines(url, first)).toMatchObject({ start: 7, text: "둘\n" });
  });

  it("begin again after a truncation or a replacement", async () => {
    const folder = await createEmptyFolder();
    const file = `${folder}/run.cards.jsonl`;
    const { url } = await startWatching(file);
    await writeFile(file, "one\ntwo\n");
    const known = await requestLines(url);
    await truncate(file, 0);
    expect(await requestLines(url, known)).toMatchObject({ id: known.id, start: 0, text: "" });
    await writeFile(`${folder}/other`, "the other file\n");
    await rename(`${folder}/other`, file);
    const other = await requestLines(url, known);
    expect(other).toMatchObject({ start: 0, text: "the other file\n" });
    expect(other.id).not.toBe(known.id);
  });

  it("are divided into responses of limited size, and a longer line is skipped", async () => {
    const file = `${await createEmptyFolder()}/run.cards.jsonl`;
    const { url } = await startWatching(file);
    await writeFile(file, `first\n${"x".repeat(17 * 2 ** 20)}\nlast\n`);
    const first = await requestLines(url);
    expect(first.text).toBe("first\n");
    const second = await requestLines(url, first);
    expect(second.text.length).toBe(16 * 2 ** 20);
    expect((await requestLines(url, second)).text).toMatch(/^x+\nlast\n$/);
  });

  it("are an error if the file cannot be read", async () => {
    const { url } = await startWatching(await createEmptyFolder());
    expect(await requestStatus(`${url}lines`)).toBe(500);
  });
});

describe("the server of a watched record", () => {
  it("accepts only requests with the secret path, the right host, and the right origin", async () => {
    const { url } = await startWatching(`${await createEmptyFolder()}/run.cards.jsonl`);
    const { origin, host } = new URL(url);
    expect(new URL(url).hostname).toBe("127.0.0.1");
    expect(await requestStatus(url)).toBe(200);
    expect(await requestStatus(url, { origin })).toBe(200);
    expect(await requestStatus(`${origin}/`)).toBe(404);
    expect(await requestStatus(`${origin}/guess/lines`)).toBe(404);
    expect(await requestStatus(`${url}../`)).toBe(404);
    expect(await requestStatus(`${url}other`)).toBe(404);
    expect(await requestStatus(url, { host: "attacker.example" })).toBe(403);
    expect(await requestStatus(url, { host: host.replace("127.0.0.1", "localhost") })).toBe(403);
    expect(await requestStatus(`${url}lines`, { origin: "https://attacker.example" })).toBe(403);
    expect(await requestStatus(`${url}lines`, { origin: "null" })).toBe(403);
    expect(await requestStatus(url, {}, "POST")).toBe(405);
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
      new URL("../../cards/experiments/recorder/run-writer-process.fixture.ts", import.meta.url),
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
