import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM_MISSING_MESSAGE, findChromium } from "../../../src/cards/html/browser.fixture.ts";
import { serveWithOfficialSdk } from "../../../src/client/a2a-js-server.fixture.ts";
import { scriptedAgent } from "../../../src/client/scripted-agent.fixture.ts";
import { createServer, type ServerOptions } from "../../../src/entries/colloquy.ts";
import { contextTokens, mintContextToken } from "../../../src/entries/auth.ts";
import { warnAboutSkippedTests } from "../../support/warn-about-skipped-tests.ts";
import { callAgentFromPage, EXPECTED_REPORT, openClientPage } from "./client-page.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium) warnAboutSkippedTests("The tests of the client in a page", CHROMIUM_MISSING_MESSAGE);

describe.skipIf(!hasChromium)("the client in a page of another origin", () => {
  let page: Page;
  let pageOrigin: string;
  let closePage: () => Promise<void>;

  beforeAll(async () => {
    ({ page, origin: pageOrigin, close: closePage } = await openClientPage());
  });
  afterAll(() => closePage());

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
});
