import type { Recording } from "../recording/index.ts";
import { PAGE_SCRIPT, PAGE_SCRIPT_SHA256, PAGE_STYLE, PAGE_STYLE_SHA256 } from "./page-bundle.ts";
import { createEmptyPageData, type PageData, buildPageData } from "./page-data.ts";

export interface HtmlReportOptions {
  /** In the title and the heading, where the recording names no run. Default: `Cards`. */
  readonly title?: string;
}

/**
 * A recording as one HTML file: it opens from a disk without a network, and keeps whoever reads it safe from what agents
 * wrote. Sequence, timeline, graph and table of every problem; the figures of the run. The same recording gives the same
 * text.
 */
export function renderHtmlReport(recording: Recording, { title = "Cards" }: HtmlReportOptions = {}): string {
  return renderPage(buildPageData(recording, recording.run?.run_id ?? title));
}

/**
 * The same page without a recording, for a server that has its lines: it listens to the event stream at the relative
 * address `events`. `lines` events have a list of decoded record lines, `torn` a number of lines that could not be read,
 * and `reset` takes everything back.
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
<nav id="list" aria-label="Problems"><div id="filters"></div><div class="list-head"><button type="button" id="whole" title="o">The whole run</button><span id="matches" role="status"></span></div><div id="samples" role="listbox" tabindex="0" aria-label="Problems"></div></nav>
<main id="middle"><div id="head"></div><div id="tabs" role="tablist" aria-label="Views"></div><div id="picture" role="tabpanel" aria-label="View"></div></main>
<aside id="card" aria-label="Card"></aside>
<p id="says" class="unseen" aria-live="polite"></p>
<noscript><p>This page shows a recording of cards with a script of its own, which is switched off here.</p></noscript>
<script type="application/json" id="recording">${encodeEmbeddedJson(data)}</script>
<script type="module">${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

/** Nothing but what stands in the file; a watched run may also ask its own server. */
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

/** JSON that no HTML parser finds an end or a beginning in, and no script engine a line's end. */
function encodeEmbeddedJson(data: PageData): string {
  return JSON.stringify(data)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
