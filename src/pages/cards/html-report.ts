import { defineOptionNames } from "../../usage-checks/index.ts";
import type { Recording } from "../recording/index.ts";
import { PAGE_SCRIPT, PAGE_SCRIPT_SHA256, PAGE_STYLE, PAGE_STYLE_SHA256 } from "./page-bundle.ts";
import { createEmptyPageData, type PageData, buildPageData } from "./page-data.ts";

/** Options of `renderHtmlReport`. */
export interface HtmlReportOptions {
  /** Title and heading of the HTML report, used when the recording has no run line. Default: `Cards`. */
  readonly title?: string;
}

const assertKnownOptions = defineOptionNames<HtmlReportOptions>()("renderHtmlReport", "title");

/**
 * Renders a recording as one self-contained HTML file that works offline. The HTML report shows the
 * statistics of the run. For each problem, the report shows a sequence diagram, a timeline, a causal graph,
 * and a table. The HTML report never executes text from agents as code. The same recording always produces
 * the same HTML.
 */
export function renderHtmlReport(recording: Recording, options: HtmlReportOptions = {}): string {
  assertKnownOptions(options);
  const { title = "Cards" } = options;
  return renderPage(buildPageData(recording, recording.run?.run_id ?? title));
}

/**
 * Renders an HTML report without data. A server streams the record lines to the page. The page subscribes to
 * server-sent events at the relative URL `events`. A `lines` event contains decoded record lines. A `torn`
 * event contains the number of unreadable lines. A `reset` event discards all received lines.
 */
export function renderLiveHtmlReport(events: string, { title = "Cards" }: HtmlReportOptions = {}): string {
  return renderPage(createEmptyPageData(title, events));
}

function renderPage(data: PageData): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${buildContentSecurityPolicy(data)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(data.title)} · cards</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header id="top"><div id="run"><h1>${escapeHtml(data.title)}</h1></div><button type="button" id="theme" title="t">Light / dark</button></header>
<nav id="list" aria-label="Problems"><div id="filters"></div><div class="list-head"><button type="button" id="whole" title="o">Entire run</button><span id="matches" role="status"></span></div><div id="samples" role="listbox" tabindex="0" aria-label="Problems"></div></nav>
<main id="middle"><div id="head"></div><div id="tabs" role="tablist" aria-label="Views"></div><div id="picture" role="tabpanel" aria-label="View"></div></main>
<aside id="card" aria-label="Card"></aside>
<p id="says" class="unseen" aria-live="polite"></p>
<noscript><p>This page requires JavaScript to show a recording of cards. Enable JavaScript and reload the page.</p></noscript>
<script type="application/json" id="recording">${encodeEmbeddedJson(data)}</script>
<script type="module">${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

/**
 * Returns a content security policy that permits only the inline content of the HTML report. The policy of a
 * live report also permits connections to the server of the page.
 */
function buildContentSecurityPolicy({ live }: PageData): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${PAGE_SCRIPT_SHA256}'`,
    `style-src 'sha256-${PAGE_STYLE_SHA256}'`,
    "img-src data:",
    ...(live === undefined ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}

/** Encodes page data as JSON, with escapes for HTML markup and Unicode line separators. */
function encodeEmbeddedJson(data: PageData): string {
  return JSON.stringify(data)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
