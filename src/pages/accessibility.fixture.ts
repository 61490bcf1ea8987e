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
