import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { launchChromium } from "../../../src/cards/html/browser.fixture.ts";
import type * as ColloquyClient from "../../../src/entries/client.ts";
import { bundleForBrowser } from "../../support/bundle-for-browser.ts";

declare const colloquy: typeof ColloquyClient;

export interface PageReport {
  readonly answer: string;
  readonly streamed: string;
  readonly arrivedInPieces: boolean;
  readonly stored: string | undefined;
  readonly canceled: string | undefined;
  readonly errorReason: string | undefined;
}

export interface AgentAccess {
  readonly url: string;
  readonly token?: string;
}

/** Runs in the page: asks, streams, reads, cancels, and reads an error. */
export async function callAgentFromPage({ url, token }: AgentAccess): Promise<PageReport> {
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

export const EXPECTED_REPORT: PageReport = {
  answer: "one two three",
  streamed: "one two three",
  arrivedInPieces: true,
  stored: "TASK_STATE_COMPLETED",
  canceled: "TASK_STATE_CANCELED",
  errorReason: "TASK_NOT_FOUND",
};

async function bundleClient(): Promise<string> {
  const [script] = await bundleForBrowser(`export * from "colloquy/client";`, {
    format: "iife",
    name: "colloquy",
  });
  return script?.code ?? "";
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

/** Opens a page that contains the client, at an origin of its own. */
export async function openClientPage(): Promise<{
  readonly page: Page;
  readonly origin: string;
  readonly close: () => Promise<void>;
}> {
  const [script, http] = await Promise.all([bundleClient(), servePage()]);
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const browser = await launchChromium();
  const page = await browser.newPage();
  await page.goto(origin);
  await page.addScriptTag({ content: script });
  return {
    page,
    origin,
    close: async () => {
      await browser.close();
      http.close();
      http.closeAllConnections();
    },
  };
}
