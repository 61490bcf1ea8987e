import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
  openPageRecordingRequestsAndErrors,
  type PageWithRequestsAndErrors,
  writePageToDisk,
} from "../../cards/html/browser.fixture.ts";
import { listScriptedLines } from "../../cards/recording/recording.fixture.ts";
import { connect } from "../../client/index.ts";
import type { TrafficLine } from "../../observe/trace/index.ts";
import { ACCESSIBILITY_VIEWS, findAccessibilityViolations } from "./accessibility.fixture.ts";
import { ConsolePageTest, reportAgent } from "./console-page.fixture.ts";
import { renderTrafficRecord } from "./index.ts";
import { recordPlannerTraffic, type RecordedTraffic } from "./recorded-traffic.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`The screens Flow and Compare are not tested: ${CHROMIUM_MISSING_MESSAGE}.\n`);
const FLOW_VIEWS = ["sequence", "path", "graph", "timeline"] as const;

describe.skipIf(!hasChromium)("the page of a traffic record", () => {
  let browser: Browser;
  let traffic: RecordedTraffic;
  let url: string;

  beforeAll(async () => {
    browser = await launchChromium();
    traffic = await recordPlannerTraffic(["6 * 7", "2 + 3"]);
    url = await writePageToDisk(renderTrafficRecord(traffic.lines, { title: "planner and solver" }));
  });
  afterAll(() => browser?.close());

  const open = (hash = "", options = {}): Promise<PageWithRequestsAndErrors> =>
    openPageRecordingRequestsAndErrors(browser, `${url}${hash}`, options);

  it("opens from a disk without requests and errors, and shows the calls between agents", async () => {
    const { page, requests, errors } = await open("", { offline: true });
    const participants = await page.locator(".sequence-participants text").allTextContents();
    expect(participants).toEqual([expect.stringContaining("client"), "planner", "solver", "calculator"]);
    for (const [at, view] of FLOW_VIEWS.entries()) {
      await page.keyboard.press(String(at + 1));
      await page.locator(`#tab-${view}[aria-selected=true]`).waitFor();
    }
    for (const screen of ["t", "a", "d", "f"]) await page.keyboard.type(`g${screen}`);
    expect(errors).toEqual([]);
    expect(requests).toEqual([url]);
    await page.close();
  });

  it("fits the graph into the window, also of a phone, and zooms", async () => {
    const { page } = await open("#/flow?view=graph");
    const svg = page.locator("svg.graph");
    const measure = async (): Promise<{ graph: number; frame: number }> => {
      const [graph, frame] = await Promise.all(
        [svg, page.locator("#picture .scroll")].map(
          async (locator) => (await locator.boundingBox())?.width ?? 0,
        ),
      );
      return { graph: graph ?? 0, frame: frame ?? 0 };
    };
    for (const viewport of [
      { width: 1000, height: 700 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(viewport);
      await expect
        .poll(async () => {
          const { graph, frame } = await measure();
          return graph > 100 && graph <= frame;
        })
        .toBe(true);
    }
    const { graph } = await measure();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(async () => (await measure()).graph / graph).toBeCloseTo(1.25, 1);
    await page.getByRole("button", { name: "Fit" }).click();
    await expect.poll(async () => (await measure()).graph).toBe(graph);
    await page.close();
  });

  it("names the error of a screen that cannot be shown, and shows the other screens", async () => {
    const { page, errors } = await open("#/agents");
    const openScreen = (hash: string): Promise<void> => page.evaluate(`location.hash = "${hash}"`);
    await page.evaluate(`{
      const { log10 } = Math;
      Math.log10 = () => { throw new Error("no axis <here>"); };
      window.mend = () => { Math.log10 = log10; };
    }`);
    await openScreen("#/flow?view=timeline");
    const failure = page.getByRole("alert");
    await failure.waitFor();
    await expect.poll(() => failure.innerText()).toContain("This screen cannot be shown\n\nno axis <here>");
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await openScreen("#/tasks");
    await page.locator("[data-testid=task-row]").first().waitFor();
    await openScreen("#/flow?view=timeline");
    await failure.waitFor();
    await page.evaluate("mend()");
    await failure.getByRole("button", { name: "Try again" }).click();
    await page.locator("#picture .message").first().waitFor();
    expect(errors).toEqual(["no axis <here>", "no axis <here>"]);
    await page.close();
  });

  it("marks the stream that the proxy broke, and the request that resumed it", async () => {
    const { page } = await open();
    const notes = await page.locator(".sequence .notes").allTextContents();
    expect(notes.filter((note) => note.includes("⚠ cut"))).toHaveLength(1);
    expect(notes.filter((note) => note.includes("⚠ resume"))).toHaveLength(1);
    await page.locator(".sequence .broken-off").click();
    const details = page.getByRole("region", { name: "Details" });
    await expect.poll(() => details.getByRole("heading").innerText()).toBe("solver → planner: cut");
    await expect.poll(() => details.innerText()).toContain("SendStreamingMessage");
    await page.keyboard.press("j");
    expect(await details.getByRole("heading").innerText()).not.toBe("solver → planner: cut");
    await page.keyboard.press("Escape");
    expect(await details.count()).toBe(0);
    await page.close();
  });

  it("shows a task with the tasks of the agents that it called, and the critical path through them", async () => {
    const { page } = await open(`#/flow/planner/${traffic.taskIds[1]}?view=path`);
    const path = page.locator(".path-view section").first();
    await expect
      .poll(() => path.getByRole("heading").innerText())
      .toMatch(/^Critical path of planner .*: \d/);
    const steps = await path.locator("tbody td:nth-child(2)").allTextContents();
    expect(steps).toContain("solver (own work)");
    // On a busy machine, the task also waits for the start of its turn.
    expect(steps.find((step) => step !== "queue")).toBe("planner (own work)");
    const percents = await path.locator("tbody td:nth-child(4)").allTextContents();
    const total = percents.reduce((sum, text) => sum + Number.parseFloat(text), 0);
    expect(total).toBeGreaterThan(99);
    expect(total).toBeLessThan(101);
    await expect.poll(() => page.locator(".flow-head").innerText()).toMatch(/tasks\s*3/);
    await page.getByRole("button", { name: "solver" }).first().click();
    await expect.poll(() => page.locator(".flow-head").innerText()).toMatch(/tasks\s*1/);
    await page.close();
  });

  it("compares two tasks: facts, the text of artifacts, and aligned messages", async () => {
    const [first, second] = traffic.taskIds;
    const { page } = await open(`#/compare?a=${first}&b=${second}`);
    const artifact = page.locator(".text-diff");
    expect(await artifact.locator("del").allTextContents()).toEqual(["6", "*", "7"]);
    expect(await artifact.locator("ins").allTextContents()).toEqual(["2", "+", "3"]);
    const messages = page.locator("section", { has: page.getByRole("heading", { name: "Messages" }) });
    const rows = await messages.locator("tbody tr").allInnerTexts();
    expect(rows[0]).toMatch(/^=.*SendStreamingMessage.*SendStreamingMessage/s);
    const onlyFirst = rows.filter((row) => row.includes("only first")).join("\n");
    expect(onlyFirst).toContain("cut");
    expect(onlyFirst).toContain("SubscribeToTask");
    await page.setViewportSize({ width: 390, height: 844 });
    for (const cell of await page
      .getByRole("row", { name: /^question/ })
      .locator("td")
      .all()) {
      const { x = 0, width = 0 } = (await cell.boundingBox()) ?? {};
      expect(x + width).toBeLessThanOrEqual(390);
    }
    await page.close();
  });

  it("renders only the visible ones of 4,000 messages", async () => {
    const many = await writePageToDisk(renderTrafficRecord(repeatLines(traffic.lines, 100)));
    const { page } = await openPageRecordingRequestsAndErrors(browser, many);
    const count = (): Promise<number> => page.locator(".sequence .message").count();
    const rows = await page.evaluate<number>(`document.querySelector(".sequence-rows").clientHeight / 52`);
    expect(rows).toBeGreaterThan(3_000);
    expect(await count()).toBeLessThan(150);
    await page.evaluate(`document.querySelector(".sequence-scroll").scrollTop = 1e9`);
    const lastNumber = page.locator(".sequence .message .number").last();
    await expect.poll(async () => Number(await lastNumber.textContent())).toBe(rows);
    expect(await count()).toBeLessThan(150);
    await page.close();
  });

  it.each(ACCESSIBILITY_VIEWS)(
    "has no accessibility violations in $colorScheme at $width × $height pixels, and is not wider",
    async ({ colorScheme, width, height, rules }) => {
      const [first, second] = traffic.taskIds;
      const hashes = [...FLOW_VIEWS.map((view) => `#/flow?view=${view}`), `#/compare?a=${first}&b=${second}`];
      const { page } = await open(hashes[0], { colorScheme, viewport: { width, height } });
      for (const [at, hash] of hashes.entries()) {
        await page.goto(`${url}${hash}`);
        const view = FLOW_VIEWS[at];
        if (view) await page.locator(`#tab-${view}[aria-selected=true]`).waitFor();
        await page
          .locator(view ? "#picture .message, .path-view" : ".compare-screen")
          .first()
          .waitFor();
        if (view === "sequence") await page.locator(".sequence .message").first().click();
        const violations = await findAccessibilityViolations(page, { rules });
        const pageWidth = await page.evaluate<number>("document.documentElement.scrollWidth");
        expect({ hash, violations }).toEqual({ hash, violations: [] });
        expect({ hash, isWider: pageWidth > width }).toEqual({ hash, isWider: false });
      }
      await page.close();
    },
  );

  it("does not execute text of agents and users", async () => {
    const hostile = [
      `</script><script>document.title = "taken"</script>`,
      `<img src=x onerror="document.title = 'taken'">`,
      `\u202egnihtyna\u202c \u001b[2J \u2028`,
    ].join(" ");
    const { lines, taskIds } = await recordPlannerTraffic([hostile, "harmless"]);
    const page = await writePageToDisk(renderTrafficRecord(lines, { title: hostile }));
    const [first, second] = taskIds;
    for (const hash of [
      ...FLOW_VIEWS.map((view) => `#/flow?view=${view}`),
      `#/compare?a=${first}&b=${second}`,
    ]) {
      const opened = await openPageRecordingRequestsAndErrors(browser, `${page}${hash}`);
      await opened.page.locator("#picture .message, .path-view, .text-diff").first().waitFor();
      if (hash.endsWith("sequence")) await opened.page.locator(".sequence .message").first().click();
      expect(await opened.page.title()).not.toBe("taken");
      expect(await opened.page.locator("img").count()).toBe(0);
      expect(await opened.page.locator("script").count()).toBe(3);
      expect(opened.errors).toEqual([]);
      // No character that changes the text direction or controls a terminal, except in the URL and in attributes.
      const shown = await opened.page.locator("#main").innerText();
      expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]|[^\P{Control}\n\t]/u);
      await opened.page.close();
    }
  });

  it("follows the live traffic of a console", async () => {
    const served = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page, errors } = await served.open(browser, "#/flow");
    await page.getByText("No traffic yet").waitFor();
    const client = await connect(served.url);
    await client.ask("tides");
    await page.locator(".sequence .message").filter({ hasText: "completed" }).waitFor();
    const before = await page.locator(".sequence .message").count();
    await client.ask("rivers");
    await page.locator(".sequence .message").filter({ hasText: "completed" }).nth(1).waitFor();
    expect(await page.locator(".sequence .message").count()).toBeGreaterThan(before);
    await expect.poll(() => page.locator(".flow-head").innerText()).toMatch(/tasks\s*2/);
    expect(errors).toEqual([]);
    await page.close();
    await served.close();
  });

  it("contains the message cards of the same record on a screen of their own", async () => {
    const page = await writePageToDisk(renderTrafficRecord([...traffic.lines, ...listScriptedLines()]));
    const opened = await openPageRecordingRequestsAndErrors(browser, page);
    await opened.page.getByRole("link", { name: "Cards" }).click();
    await opened.page.getByRole("option", { name: "gsm8k_1" }).click();
    expect(await opened.page.locator(".sequence .message").count()).toBe(10);
    await opened.page.close();
  });
});

/** Repeats recorded lines as the lines of other processes with other tasks, messages, and traces. */
function repeatLines(lines: readonly TrafficLine[], times: number): TrafficLine[] {
  const text = JSON.stringify(lines);
  return Array.from({ length: times }, (_, at) => {
    const suffix = at.toString(16).padStart(4, "0");
    const changed = text
      .replaceAll(
        /"(writer|task_id|taskId|id|message_id|messageId|call)":"([^"]{8,})"/g,
        `"$1":"$2${suffix}"`,
      )
      .replaceAll(/"traceparent":"00-[0-9a-f]{4}/g, `"traceparent":"00-${suffix}`);
    return JSON.parse(changed) as TrafficLine[];
  }).flat();
}
