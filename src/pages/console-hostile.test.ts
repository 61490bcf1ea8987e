import * as fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, artifact, data, file, inputRequired } from "../adapters/index.ts";
import { CHROMIUM_MISSING_MESSAGE, findChromium, launchChromium } from "../cards/html/browser.fixture.ts";
import type { Agent } from "../engine/index.ts";
import { connect } from "../client/index.ts";
import { ConsolePageTest } from "./console-page.fixture.ts";
import { countRuns } from "../../test/count-runs.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`Hostile content is not tested in a page: ${CHROMIUM_MISSING_MESSAGE}.\n`);

/** Sends its request back in every place that an agent controls. */
const echoAgent: Agent = agent(
  { name: "echo", description: "Echoes." },
  async function* ({ text: hostile, history }) {
    yield hostile;
    const bytes = new TextEncoder().encode(hostile);
    yield artifact(
      { id: "files", name: hostile, description: hostile },
      file(bytes, { filename: hostile, mediaType: "text/html" }),
      file(bytes, { filename: hostile, mediaType: "image/svg+xml" }),
      file(bytes, { filename: hostile, mediaType: hostile }),
      { url: hostile, filename: hostile },
      data({ [hostile]: [hostile] }),
    );
    if (history.length === 1)
      yield inputRequired(
        hostile,
        data({
          schema: {
            type: "object",
            title: hostile,
            properties: {
              [hostile]: { type: "string", title: hostile, description: hostile, enum: [hostile] },
            },
          },
        }),
        data({ approvalId: hostile, toolName: hostile, input: hostile }),
      );
  },
);

/** Pieces of markup, Markdown, and control characters that attack a page in known ways. */
const HOSTILE_PIECES = [
  `<script>window.taken = 1</script>`,
  `</script><script>window.taken = 2</script>`,
  `<img src=x onerror="window.taken = 3">`,
  `<svg onload="window.taken = 4"><a xlink:href="javascript:window.taken=5"><text>x</text></a></svg>`,
  `<iframe srcdoc="<script>parent.taken = 6</script>"></iframe>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.taken=7&gt;">`,
  `[click](javascript:window.taken=8)`,
  `![image](https://attacker.invalid/pixel.png)`,
  `[a]: https://attacker.invalid "x"`,
  `<form action="https://attacker.invalid"><input name=password><button>`,
  `<a href="data:text/html,<script>opener.taken=9</script>" target=_blank>x</a>`,
  `<base href="https://attacker.invalid/">`,
  `<style>* { background: url(https://attacker.invalid/style) }</style>`,
  `<div style="position:fixed;inset:0;background:url(https://attacker.invalid/a)" id="main" class="page-header">over</div>`,
  `<meta http-equiv="refresh" content="0;url=https://attacker.invalid">`,
  `<object data="https://attacker.invalid"></object><embed src="https://attacker.invalid"><link rel=stylesheet href="https://attacker.invalid">`,
  `<details open ontoggle=window.taken=10>`,
  `<noscript><p title="</noscript><img src=x onerror=window.taken=11>">`,
  `\u202egnp.exe\u202c`,
  "\u2066\u0000\u001b[2J\u001b]8;;https://attacker.invalid\u0007",
  "```html\n<img src=x onerror=window.taken=12>\n```",
  "| a |\n|---|\n| <img src=x onerror=window.taken=13> |",
  `<constructor>__proto__`,
  `__proto__`,
  `constructor`,
  `javascript:window.taken=14`,
  `\ud800`,
  `{{constructor.constructor("window.taken=15")()}}`,
];

const hostileText = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_PIECES) },
      fc.string({ maxLength: 12, unit: "binary" }),
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((pieces) => pieces.join(""))
  .filter((text) => text.trim() !== "");

/** Everything that shows that text was treated as more than text. */
async function findTakeovers(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const found = [];
    if (window.taken !== undefined) found.push("script " + window.taken);
    for (const element of document.querySelectorAll("#app *")) {
      const name = element.localName;
      if (["script", "object", "embed", "base", "meta", "link", "style", "math"].includes(name)) found.push(name);
      if (name === "iframe" && (element.getAttribute("sandbox") !== "" || !element.src.startsWith("blob:"))) found.push("iframe");
      if (name === "img" && !/^(blob|data):/.test(element.src)) found.push("img " + element.src);
      if (name === "a" && element.hasAttribute("href") && !/^(https?:|#)/.test(element.getAttribute("href"))) found.push("href " + element.getAttribute("href"));
      if (name === "a" && /^https?:/.test(element.getAttribute("href") ?? "") && element.relList.contains("noopener") === false) found.push("rel");
      for (const { name: attribute } of element.attributes) if (/^on/i.test(attribute)) found.push(attribute);
      if (element.closest(".markdown") && (element.hasAttribute("style") || element.id !== "")) found.push("markdown attribute");
    }
    if (document.querySelectorAll("#main").length !== 1) found.push("id");
    if (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)) found.push("direction");
    return found;
  })()`);
}

describe.skipIf(!hasChromium)("content of a hostile agent", () => {
  let browser: Browser;
  let test: ConsolePageTest;
  beforeAll(async () => {
    browser = await launchChromium();
    test = await ConsolePageTest.serve({ echo: echoAgent });
  });
  afterAll(async () => {
    await test?.close();
    await browser?.close();
  });

  it("is only text on every screen that shows a task [E13]", async () => {
    const client = await connect(test.url);
    const { page, errors } = await test.open(browser);
    const sentUrls: string[] = [];
    // The browser reports a request that the policy of the page blocks as failed, without sending it.
    page.on(
      "requestfailed",
      (request) => request.failure()?.errorText === "csp" || sentUrls.push(request.url()),
    );
    page.on("requestfinished", (request) => sentUrls.push(request.url()));
    const show = async (route: string, ready: string): Promise<void> => {
      await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
      await page.locator(ready).first().waitFor();
    };
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        const response = await client.ask(text.toWellFormed());
        const id = response.task?.id ?? "";
        const found: string[] = [];
        for (const view of ["content", "timeline", "wire"]) {
          await show(
            `#/task/echo/${id}?view=${view}`,
            view === "content" ? ".artifact" : `[data-view=${view}]`,
          );
          await page.locator("[data-testid=answer]").waitFor();
          if (view === "content") {
            for (const button of await page.getByRole("button", { name: /Show the page/ }).all())
              await button.click();
            await page.locator("iframe").first().waitFor();
          }
          if (view === "timeline") await page.locator(".timeline-row").last().click();
          found.push(...(await findTakeovers(page)));
        }
        await show("#/tasks", "[data-testid=task-row]");
        found.push(...(await findTakeovers(page)));
        expect(found).toEqual([]);
      }),
      { numRuns: countRuns(8, 40) },
    );
    // HTML files open in a sandbox, and the browser reports what the sandbox blocks. Nothing else is an error.
    expect(errors.filter((error) => !/sandboxed|Content Security Policy/.test(error))).toEqual([]);
    expect(
      sentUrls.filter((url) => !/^(?:blob:|data:)/.test(url) && !url.startsWith(`${test.url}/console/`)),
    ).toEqual([]);
    await page.close();
  });

  it("is only text in names and cards", async () => {
    const name = HOSTILE_PIECES.slice(0, 4).join("");
    const hostile = agent(
      {
        name,
        description: name,
        version: name,
        skills: [{ id: name, name, description: name, tags: [name], examples: [name] }],
      },
      async function* () {
        yield "ok";
      },
    );
    const other = await ConsolePageTest.serve({ hostile });
    const { page, errors } = await other.open(browser, "#/agents");
    await page.locator(".card-report").waitFor();
    expect(await findTakeovers(page)).toEqual([]);
    await page.evaluate(`location.hash = "#/chat"`);
    await page.locator(".composer").waitFor();
    await page.locator(".suggestions button").click();
    await page.waitForSelector("[data-testid=turn][data-status=ended]");
    expect(await findTakeovers(page)).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
    await other.close();
  });
});
