import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
} from "../../src/cards/html/browser.fixture.ts";
import { agent, createServer, type Server, status, toNodeListener } from "../../src/entries/colloquy.ts";
import { bundleForBrowser } from "../support/bundle-for-browser.ts";
import { root } from "./code-blocks.ts";

const template = join(root, "templates/shared-vanilla");
const TYPES: Readonly<Record<string, string>> = { "/": "text/html", "/main.js": "text/javascript" };
const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`The page of the templates is not tested: ${CHROMIUM_MISSING_MESSAGE}.\n`);

describe.skipIf(!hasChromium)("the page of the templates hono and workers", () => {
  const gate = Promise.withResolvers<void>();
  let isFailing = true;
  let agents: Server;
  let http: HttpServer;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const assistant = agent({ name: "assistant", description: "Helps" }, async function* ({ text }) {
      if (text === "fail" && isFailing) throw new Error("secret");
      yield status("Thinking…");
      if (text === "first") await gate.promise;
      yield `Answer to ${text}`;
    });
    agents = createServer({ assistant }, { basePath: "/agents", store: "memory", observer: false });
    const [script] = await bundleForBrowser(readFileSync(join(template, "page/main.ts"), "utf8"));
    const files: Readonly<Record<string, string>> = {
      "/": readFileSync(join(template, "public/index.html"), "utf8"),
      "/main.js": script?.code ?? "",
    };
    const answer = async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/agents")) return await agents.fetch(request);
      const headers = { "content-type": TYPES[pathname] ?? "text/plain" };
      return new Response(files[pathname] ?? "", { status: pathname in files ? 200 : 404, headers });
    };
    http = createHttpServer(toNodeListener(answer)).listen(0, "127.0.0.1");
    browser = await launchChromium();
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`);
  });
  afterAll(async () => {
    await browser.close();
    await agents.close({ graceMs: 0 });
    http.close();
  });

  const send = async (text: string): Promise<void> => {
    await page.locator("input").fill(text);
    await page.keyboard.press("Enter");
  };

  it("keeps a text that the user sends during an answer, and shows the progress, errors, and a Stop button", async () => {
    const [input, progress, stop] = [
      page.locator("input"),
      page.getByRole("status"),
      page.getByRole("button", { name: "Stop" }),
    ];
    await send("first");
    await progress.filter({ hasText: "Thinking…" }).waitFor();
    await send("second");
    expect(await input.inputValue()).toBe("second");
    gate.resolve();
    await stop.waitFor({ state: "hidden" });
    await page.keyboard.press("Enter");
    await page.locator("li", { hasText: "Answer to second" }).waitFor();
    expect(await page.locator("li").allInnerTexts()).toEqual([
      "first",
      "Answer to first",
      "second",
      "Answer to second",
    ]);
    await stop.waitFor({ state: "hidden" });
    expect(await input.inputValue()).toBe("");
    await send("fail");
    await progress.filter({ hasText: "The agent failed." }).waitFor();
    isFailing = false;
    const retry = page.getByRole("button", { name: "Retry" });
    await retry.click();
    await page.locator("li", { hasText: "Answer to fail" }).waitFor();
    await retry.waitFor({ state: "hidden" });
  });
});
