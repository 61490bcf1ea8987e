import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Runs all rules of axe on a page, and returns one line per violation. */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE_SOURCE);
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => id + ": " + html.slice(0, 200) + ": " + failureSummary)))`);
}

/** Returns the elements that make a page wider than the window. */
export function findOverflowingElements(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const root = document.scrollingElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    return [...document.querySelectorAll("*")]
      .filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1)
      .map((element) => element.tagName + "." + element.className);
  })()`);
}

/** The themes and the window sizes of the accessibility tests. */
export const THEMES_AND_SIZES = (["light", "dark"] as const).flatMap((colorScheme) =>
  (
    [
      [1_440, 900],
      [390, 844],
    ] as const
  ).map(([width, height]) => ({ colorScheme, width, height })),
);

/** Returns the element with the focus as its tag and its name, for example `select Agent`. */
export function readFocusedName(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const { activeElement: element } = document;
    const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
    return element.localName + " " + label.trim();
  })()`);
}

const MAX_TAB_PRESSES = 60;

/** Presses Tab until the focus is on an element whose `readFocusedName` starts with `name`. */
export async function pressTabUntil(page: Page, name: string): Promise<void> {
  for (let press = 0; press < MAX_TAB_PRESSES; press++) {
    await page.keyboard.press("Tab");
    if ((await readFocusedName(page)).startsWith(name)) return;
  }
  throw new Error(`Tab does not reach ${name}.`);
}
