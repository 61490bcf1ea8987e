import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createChangedRecording,
  createScriptedRecording,
} from "../../../cards/recording/recording.fixture.ts";
import {
  type ScriptedSample,
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_GSM8K_SAMPLES,
} from "../../../cards/recording/scripted-samples.fixture.ts";
import {
  findChromium,
  CHROMIUM_MISSING_MESSAGE,
  writePageToDisk,
  launchChromium,
  type PageWithRequestsAndErrors,
  openPageRecordingRequestsAndErrors,
} from "../../../cards/html/browser.fixture.ts";
import { ACCESSIBILITY_VIEWS, findAccessibilityViolations } from "../accessibility.fixture.ts";
import { renderHtmlReport } from "./html-report.ts";
import { createGsm8kSizedRecording } from "./gsm8k-sized-recording.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`The page of a recording is not tested in a browser: ${CHROMIUM_MISSING_MESSAGE}.\n`);

/** Hostile texts of an agent. */
const HOSTILE_TEXTS = [
  `</script><script>document.title = "taken"; alert(1)</script>`,
  `<img src=x onerror="document.title = 'taken'">`,
  `<!-- <script> ]]> \u2028 \u2029`,
  `\u202egnihtyna\u202c \u2066 \u001b[2J\u001b[31mred\u0007`,
  `javascript:alert(1)`,
];

const hostileScript: ScriptedSample = {
  ...SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  id: "hostile",
  predicted: HOSTILE_TEXTS.join(" "),
  steps: SCRIPTED_SEQUENTIAL_TASKS_SAMPLE.steps.map((step, at) => ({
    ...step,
    content: HOSTILE_TEXTS.join(" "),
    metadata: { ...step.metadata, [HOSTILE_TEXTS[at % HOSTILE_TEXTS.length] ?? ""]: HOSTILE_TEXTS },
  })),
};

describe.skipIf(!hasChromium)("the page in a browser", () => {
  let browser: Browser;
  let small: string;
  let whole: string;

  beforeAll(async () => {
    browser = await launchChromium();
    small = await writePageToDisk(renderHtmlReport(createScriptedRecording()));
    whole = await writePageToDisk(renderHtmlReport(createGsm8kSizedRecording()));
  });
  afterAll(() => browser?.close());

  const texts = (open: PageWithRequestsAndErrors, selector: string): Promise<string[]> =>
    open.page.locator(selector).allTextContents();
  const chosen = (open: PageWithRequestsAndErrors): Promise<string> =>
    open.page.locator("#samples [aria-selected=true] .id").innerText();

  it("opens from a disk without requests, errors, or warnings", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, small, { offline: true });
    expect(open.requests).toEqual([small]);
    for (const key of ["j", "l", "t"]) await open.page.keyboard.press(key);
    expect(open.requests).toEqual([small]);
    expect(open.errors).toEqual([]);
    await open.page.close();
  });

  it("shows the description of the run, the interval of its accuracy, and its evidence", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, whole);
    const header = await open.page.locator("#run").innerText();
    expect(header).toContain("gsm8k-whole");
    expect(header).toContain("1,309 of 1,319, 95 % interval 98.6 % to 99.6 %");
    await open.page.close();
    for (const [evidence, said] of [
      ["oracle", "evidence: oracle — no model"],
      ["live-model", "evidence: live-model — a live model answered"],
    ] as const) {
      const other = await openPageRecordingRequestsAndErrors(
        browser,
        await writePageToDisk(
          renderHtmlReport(createScriptedRecording(SCRIPTED_GSM8K_SAMPLES, { evidence })),
        ),
      );
      await expect.poll(() => other.page.locator("#evidence").innerText()).toContain(said);
      await other.page.close();
    }
  });

  it("renders only the visible ones of 1,319 problems, and any problem on selection", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, `${whole}#gsm8k_0`);
    const elements = (): Promise<number> => open.page.evaluate(`document.querySelectorAll("*").length`);
    expect(await elements()).toBeLessThan(800);
    await expect.poll(() => open.page.locator("#matches").innerText()).toBe("1,319 problems");
    await open.page.locator("#samples").press("End");
    expect(await chosen(open)).toBe("gsm8k_1318");
    expect(await open.page.locator(".sequence .message").count()).toBe(6);
    await open.page.close();
  });

  it("starts with the problem and the card of the URL", async () => {
    const open = await openPageRecordingRequestsAndErrors(
      browser,
      `${small}#sample=${SCRIPTED_GSM8K_SAMPLES[1]?.id}&card=2`,
    );
    expect(await chosen(open)).toBe(SCRIPTED_GSM8K_SAMPLES[1]?.id);
    await expect.poll(() => open.page.locator("#card h2").innerText()).toBe("Card 2");
    await open.page.evaluate(`location.hash = "#gsm8k_0"`);
    await open.page.waitForFunction(`document.querySelector("#sample-title").textContent === "gsm8k_0"`);
    await open.page.close();
  });

  it("supports arrow keys for problems (up and down) and cards (left and right)", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, small);
    const { keyboard } = open.page;
    await keyboard.press("j");
    expect(await chosen(open)).toBe(SCRIPTED_GSM8K_SAMPLES[0]?.id);
    await keyboard.press("ArrowDown");
    expect(await chosen(open)).toBe(SCRIPTED_GSM8K_SAMPLES[1]?.id);
    await keyboard.press("k");
    expect(await chosen(open)).toBe(SCRIPTED_GSM8K_SAMPLES[0]?.id);
    await keyboard.press("ArrowRight");
    await keyboard.press("ArrowRight");
    await expect.poll(() => open.page.locator("#card h2").innerText()).toBe("Card 2");
    await expect
      .poll(() => open.page.locator("#card .content").innerText())
      .toBe("Calculate 16 eggs - 3 eaten - 4 muffins");
    await expect
      .poll(() => open.page.locator("[aria-live=polite]").innerText())
      .toContain("Card 2, task from planner to solver");
    expect(new URL(open.page.url()).hash).toBe("#/cards?sample=gsm8k_0&card=2");
    await keyboard.press("Escape");
    await keyboard.press("Escape");
    expect(await open.page.locator("#samples [aria-selected=true]").count()).toBe(0);
    await open.page.close();
  });

  it("is usable with Tab and Enter only", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, `${small}#gsm8k_0`);
    await open.page.locator(".sequence .message").first().focus();
    await open.page.keyboard.press("Enter");
    await expect.poll(() => open.page.locator("#card h2").innerText()).toBe("Card 1");
    await open.page.close();
  });

  it("copies a card's JSON", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const open = await openPageRecordingRequestsAndErrors(browser, `${small}#sample=gsm8k_0&card=2`, {
      permissions,
    });
    await open.page.getByRole("button", { name: "Copy the card as JSON" }).click();
    await open.page.getByText("Copy the card as JSON: copied").waitFor({ state: "attached" });
    expect(await open.page.evaluate(`navigator.clipboard.readText()`)).toBe(
      await open.page.locator(".raw code").textContent(),
    );
    await open.page.close();
  });

  it("filters by text and outcome", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, whole);
    const matches = open.page.locator("#matches");
    await open.page.keyboard.press("/");
    await open.page.keyboard.type("사과");
    await expect.poll(() => matches.innerText()).toBe("330 of 1,319 problems");
    await open.page.getByLabel("Filter by outcome").selectOption("wrong");
    await expect.poll(() => matches.innerText()).toBe("0 of 1,319 problems");
    await open.page.locator("#search").press("Escape");
    await expect.poll(() => matches.innerText()).toBe("1,319 problems");
    await open.page.getByLabel("Filter by outcome").selectOption("wrong");
    await expect.poll(() => matches.innerText()).toBe("10 of 1,319 problems");
    await open.page.getByLabel("Filter by outcome").selectOption("answered");
    await expect.poll(() => matches.innerText()).toBe("1,319 problems");
    await open.page.close();
  });

  it("lists only matching problems, without gaps and overlaps, after a change of the filter", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, whole);
    const listRows = (): Promise<{ id: string; top: number }[]> =>
      open.page.evaluate(`[...document.querySelectorAll("#samples [role=option]")]
        .map((row) => ({ id: row.querySelector(".id").textContent, top: row.getBoundingClientRect().top }))
        .sort((a, b) => a.top - b.top)`);
    const outcome = open.page.getByLabel("Filter by outcome");
    for (const [filter, first, rows] of [
      ["", "gsm8k_0", undefined],
      ["wrong", "gsm8k_119", 10],
      ["correct", "gsm8k_0", undefined],
      ["wrong", "gsm8k_119", 10],
    ] as const) {
      await outcome.selectOption(filter);
      await expect.poll(async () => (await listRows())[0]?.id).toBe(first);
      const found = await listRows();
      if (rows !== undefined) expect(found).toHaveLength(rows);
      const distances = found.slice(1).map(({ top }, at) => top - (found[at]?.top ?? 0));
      expect(new Set(distances)).toEqual(new Set([56]));
    }
    await open.page.close();
  });

  it.each([
    [768, 1_024],
    [1_024, 768],
    [390, 844],
  ])("shows the diagram and the message card side by side at %i × %i pixels", async (width, height) => {
    const open = await openPageRecordingRequestsAndErrors(browser, `${small}#sample=gsm8k_1&card=3`, {
      viewport: { width, height },
    });
    const picture = await open.page.locator("#picture").boundingBox();
    expect(picture?.height).toBeGreaterThan(280);
    const selected = open.page.locator(".sequence [aria-pressed=true]");
    expect(await selected.isVisible()).toBe(true);
    await expect.poll(() => open.page.locator("#card h2").innerText()).toBe("Card 3");
    const card = await open.page.locator("#card").boundingBox();
    expect((card?.y ?? 0) + Math.min(card?.height ?? 0, 100)).toBeLessThanOrEqual(height);
    // No part of the page is wider than the window.
    expect(await open.page.evaluate<number>(`document.documentElement.scrollWidth`)).toBeLessThanOrEqual(
      width,
    );
    await open.page.close();
  });

  it("opens a problem and a card by a tap on a phone, and returns to the list", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, small, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const { page } = open;
    const isInWindow = async (selector: string): Promise<boolean> => {
      const box = await page.locator(selector).boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= 844;
    };
    await page.getByRole("option", { name: "gsm8k_1" }).tap();
    await expect.poll(() => isInWindow("#sample-title")).toBe(true);
    await page.locator(".sequence .message").nth(1).tap();
    await expect.poll(() => isInWindow("#card h2")).toBe(true);
    await page.getByRole("button", { name: "Close the card" }).tap();
    await page.locator("#card").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "All problems" }).tap();
    await page.getByRole("option", { name: "gsm8k_1" }).waitFor();
    await page.close();
  });

  it.each(ACCESSIBILITY_VIEWS)(
    "has no accessibility violations in $colorScheme at $width × $height pixels",
    async ({ colorScheme, width, height, rules }) => {
      const viewport = { width, height };
      const { page } = await openPageRecordingRequestsAndErrors(browser, small, { colorScheme, viewport });
      for (const [hash, ready] of [
        ["", "#samples"],
        ["#sample=gsm8k_1&card=3", ".sequence [aria-pressed=true]"],
      ] as const) {
        await page.goto(`${small}${hash}`);
        await page.locator(ready).waitFor();
        const violations = await findAccessibilityViolations(page, { rules });
        expect({ hash, violations }).toEqual({ hash, violations: [] });
      }
      await page.close();
    },
  );

  it("shows the content, the metadata, and the six members of a card", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, `${small}#sample=gsm8k_0&card=2`);
    const raw = JSON.parse((await open.page.locator(".raw code").textContent()) ?? "") as object;
    expect(raw).toEqual(
      createScriptedRecording().cards.find(({ metadata }) => metadata.card_id === "gsm8k_0.s1"),
    );
    expect(await texts(open, "#card .metadata dt")).toContain("duration_ms");
    await open.page
      .getByRole("button", { name: "reply to" })
      .or(open.page.getByRole("button", { name: "result of" }))
      .click();
    await expect.poll(() => open.page.locator("#card h2").innerText()).toBe("Card 1");
    await open.page.close();
  });

  it("shows the prompt and the reply that decided a wrong problem after two clicks", async () => {
    const recording = createChangedRecording((line) => {
      const prompt = { messages: [{ role: "user", text: "Divide the profit" }] };
      return line.kind === "model" ? { ...line, prompt, reply: `I say ${line.message_id}` } : line;
    });
    const file = await writePageToDisk(renderHtmlReport(recording));
    const { page } = await openPageRecordingRequestsAndErrors(browser, file);
    await page.locator("#samples .wrong").first().click();
    await page.locator(".sequence .message").nth(1).click();
    const call = page.locator("#card details.raw").filter({ hasText: "Call of" });
    expect(await call.innerText()).toMatch(/user: Divide the profit\s+reply: I say gsm8k_2\./);
    await page.close();
  });

  it("does not execute text of agents", async () => {
    const open = await openPageRecordingRequestsAndErrors(
      browser,
      `${await writePageToDisk(renderHtmlReport(createScriptedRecording([hostileScript], { dataset: HOSTILE_TEXTS[0] ?? "", method: HOSTILE_TEXTS[1] ?? "" })))}#hostile`,
    );
    const { page } = open;
    const before = await page.title();
    for (const key of ["l", "l"]) await page.keyboard.press(key);
    expect(await page.title()).toBe(before);
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.locator("script").count()).toBe(3);
    expect(open.errors).toEqual([]);
    expect(open.requests).toHaveLength(1);
    const shown = await page.locator("body").innerText();
    expect(shown).toContain(`<img src=x onerror="document.title = 'taken'">`);
    // No character that changes the text direction or controls a terminal.
    expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]|[^\P{Control}\n\t]/u);
    // The content security policy rejects scripts that a manipulated page tries to run.
    await expect(page.evaluate(`document.body.innerHTML = "<img src=x onerror=alert(1)>"`)).rejects.toThrow(
      "TrustedHTML",
    );
    await page.close();
  });

  it("follows the theme of the system and can be toggled", async () => {
    const paper = (open: PageWithRequestsAndErrors): Promise<string> =>
      open.page.evaluate(`getComputedStyle(document.body).backgroundColor`);
    const light = await openPageRecordingRequestsAndErrors(browser, small, { colorScheme: "light" });
    const dark = await openPageRecordingRequestsAndErrors(browser, small, { colorScheme: "dark" });
    const [day, night] = [await paper(light), await paper(dark)];
    expect(day).not.toBe(night);
    await light.page.getByRole("button", { name: "Light or dark theme" }).click();
    await dark.page.keyboard.press("t");
    expect([await paper(light), await paper(dark)]).toEqual([night, day]);
    await light.page.close();
    await dark.page.close();
  });

  it("prints the view and the card without screen-only elements", async () => {
    const open = await openPageRecordingRequestsAndErrors(browser, `${small}#sample=gsm8k_0&card=2`);
    await open.page.emulateMedia({ media: "print" });
    expect(await open.page.locator("#list").isVisible()).toBe(false);
    expect(await open.page.locator(".sequence").isVisible()).toBe(true);
    expect(await open.page.locator(".raw code").isVisible()).toBe(true);
    await open.page.close();
  });
});
