import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../../../lab/interop/install-programs.ts";
import { startPeerServers } from "../../../lab/interop/run-sdk-peer.ts";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
} from "../../../src/cards/html/browser.fixture.ts";
import { serveWithOfficialSdk } from "../../../src/client/a2a-js-server.fixture.ts";
import { scriptedAgent } from "../../../src/client/scripted-agent.fixture.ts";
import type * as ColloquyClient from "../../../src/entries/client.ts";
import { createServer, type ServerOptions } from "../../../src/entries/colloquy.ts";
import { contextTokens, mintContextToken } from "../../../src/entries/auth.ts";
import { warnAboutSkippedTests } from "../../support/warn-about-skipped-tests.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium) warnAboutSkippedTests("The tests of the client in a page", CHROMIUM_MISSING_MESSAGE);
/** `npm run lab -- interop` installs Python's SDK here. `COLLOQUY_TEST_PYTHON` names another Python with the SDK. */
const python =
  process.env["COLLOQUY_TEST_PYTHON"] ??
  `${repositoryRoot}/node_modules/.cache/colloquy-interop/python/bin/python`;
const hasPython = hasChromium && existsSync(python);
if (hasChromium && !hasPython)
  warnAboutSkippedTests("The tests of a page with Python's SDK", "run npm run lab -- interop once");

declare const colloquy: typeof ColloquyClient;

interface PageReport {
  readonly answer: string;
  readonly streamed: string;
  readonly arrivedInPieces: boolean;
  readonly stored: string | undefined;
  readonly canceled: string | undefined;
  readonly errorReason: string | undefined;
}

interface AgentAccess {
  readonly url: string;
  readonly token?: string;
}

/** Runs in the page: asks, streams, reads, cancels, and reads an error. */
async function callAgentFromPage({ url, token }: AgentAccess): Promise<PageReport> {
  const auth = token === undefined ? {} : { auth: { bearer: () => token } };
  const client = await colloquy.connect(url, auth);
  const context = token === undefined ? {} : { contextId: "page-context" };
  const { text: answer, task } = await client.ask("hello", context);
  const pieces: string[] = [];
  for await (const piece of colloquy.readText(client.stream("again", context))) pieces.push(piece);
  const { status } = await client.tasks.get(task?.id ?? "");
  let canceled: string | undefined;
  for await (const event of client.stream("wait", context)) {
    const taskId = "task" in event ? event.task.id : "statusUpdate" in event ? event.statusUpdate.taskId : "";
    if (taskId === "" || canceled !== undefined) continue;
    canceled = (await client.tasks.cancel(taskId)).status.state;
  }
  const error: unknown = await client.tasks.get("no-such-task").catch((thrown: unknown) => thrown);
  const errorReason = error instanceof colloquy.A2AError ? error.reason : undefined;
  return {
    answer,
    streamed: pieces.join(""),
    arrivedInPieces: pieces.length > 1,
    stored: status.state,
    canceled,
    errorReason,
  };
}

const EXPECTED_REPORT: PageReport = {
  answer: "one two three",
  streamed: "one two three",
  arrivedInPieces: true,
  stored: "TASK_STATE_COMPLETED",
  canceled: "TASK_STATE_CANCELED",
  errorReason: "TASK_NOT_FOUND",
};

async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "colloquy",
    logLevel: "silent",
    stdin: {
      contents: `export * from "./src/entries/client-portable.ts";`,
      resolveDir: repositoryRoot,
    },
  });
  return outputFiles[0]?.text ?? "";
}

/** Serves a page without content, whose origin differs from that of each agent server. */
async function servePage(): Promise<HttpServer> {
  const http = createHttpServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<!doctype html><title>page</title>"),
  );
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return http;
}

describe.skipIf(!hasChromium)("the client in a page of another origin", () => {
  let browser: Browser;
  let http: HttpServer;
  let pageOrigin: string;
  let page: Page;

  beforeAll(async () => {
    const [script, pageServer] = await Promise.all([bundleClient(), servePage()]);
    http = pageServer;
    pageOrigin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    browser = await launchChromium();
    page = await browser.newPage();
    await page.goto(pageOrigin);
    await page.addScriptTag({ content: script });
  });
  afterAll(async () => {
    await browser.close();
    http.close();
    http.closeAllConnections();
  });

  async function withOwnServer(options: ServerOptions, use: (url: string) => Promise<void>): Promise<void> {
    const server = createServer(scriptedAgent, {
      store: "memory",
      mergeChunks: false,
      observer: false,
      ...options,
    });
    try {
      await use((await server.listen()).url);
    } finally {
      await server.close({ graceMs: 50 });
    }
  }

  it("calls a server of Colloquy", async () => {
    await withOwnServer({ cors: { origins: [pageOrigin] } }, async (url) => {
      expect(await page.evaluate(callAgentFromPage, { url })).toEqual(EXPECTED_REPORT);
    });
  });

  it("calls a server of Colloquy with a context token", async () => {
    const secret = "a-secret-of-more-than-32-characters-0001";
    const authenticate = contextTokens({ secret, audience: "agents" });
    await withOwnServer({ cors: { origins: [pageOrigin] }, authenticate }, async (url) => {
      const grant = { secret, audience: "agents", principal: "ada" };
      const { token } = await mintContextToken({ ...grant, contexts: ["page-context"] });
      expect(await page.evaluate(callAgentFromPage, { url, token })).toEqual(EXPECTED_REPORT);
      const { token: other } = await mintContextToken({ ...grant, contexts: ["other-context"] });
      await expect(page.evaluate(callAgentFromPage, { url, token: other })).rejects.toThrow(
        "not valid for the context",
      );
      // The page can read the status and the header of an error.
      const readChallenge = async (target: string): Promise<unknown> => {
        const response = await fetch(`${target}/tasks`, { headers: { "a2a-version": "1.0" } });
        return [response.status, response.headers.get("www-authenticate")];
      };
      expect(await page.evaluate(readChallenge, url)).toEqual([401, `Bearer realm="a2a"`]);
    });
  });

  it("reaches no server that allows only other origins", async () => {
    for (const cors of [undefined, { origins: ["https://shop.example"] }])
      await withOwnServer(cors ? { cors } : {}, async (url) => {
        await expect(page.evaluate(callAgentFromPage, { url })).rejects.toThrow();
      });
  });

  it("calls a server of @a2a-js/sdk", async () => {
    const server = await serveWithOfficialSdk({ corsOrigin: pageOrigin });
    try {
      expect(await page.evaluate(callAgentFromPage, { url: server.url })).toEqual(EXPECTED_REPORT);
    } finally {
      await server.close();
    }
  });

  it.skipIf(!hasPython)("calls a server of Python's SDK", async () => {
    const program = `${repositoryRoot}/test/interop/python/server.py`;
    const server = await startPeerServers([python, program, "--cors-origin", pageOrigin], "unused-token");
    try {
      expect(await page.evaluate(callAgentFromPage, { url: server.url })).toEqual(EXPECTED_REPORT);
    } finally {
      server.stop();
    }
  });
});
