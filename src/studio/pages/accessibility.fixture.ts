import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { isLongRun } from "../../../test/support/count-runs.ts";

const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules whose outcome depends on the colors of a theme. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** A theme and a window size of the accessibility tests. */
export interface AccessibilityView {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
  readonly height: number;
  /** If given, axe only runs the rules about colors. */
  readonly rules?: "colors";
}

/** Runs the rules of axe on a page, and returns one line per violation. */
export async function findAccessibilityViolations(
  page: Page,
  { rules }: Pick<AccessibilityView, "rules"> = {},
): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`"axe" in window`))) await page.evaluate(AXE_SOURCE);
  const options = {
    resultTypes: ["violations"],
    ...(rules === "colors" && { runOnly: COLOR_RULES }),
  };
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
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

const DESKTOP = { width: 1_440, height: 900 };
const PHONE = { width: 390, height: 844 };

/**
 * The themes and the window sizes of the accessibility tests. The themes differ in colors only, so the dark theme is
 * tested with the rules about colors. `COLLOQUY_LONG_TESTS=1` tests all rules in both themes and sizes.
 */
export const ACCESSIBILITY_VIEWS: readonly AccessibilityView[] = [
  { colorScheme: "light", ...DESKTOP },
  ...(isLongRun
    ? [
        { colorScheme: "light" as const, ...PHONE },
        { colorScheme: "dark" as const, ...DESKTOP },
        { colorScheme: "dark" as const, ...PHONE },
      ]
    : [{ colorScheme: "dark" as const, ...DESKTOP, rules: "colors" as const }]),
];

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
