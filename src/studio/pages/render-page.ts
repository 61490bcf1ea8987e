import { CONSOLE_SCRIPT, CONSOLE_SCRIPT_SHA256 } from "./console-page-bundle.ts";
import { PAGE_NOTICES, PAGE_STYLE, PAGE_STYLE_SHA256 } from "./page-bundle.ts";
import { RECORD_SCRIPT, RECORD_SCRIPT_SHA256 } from "./record-page-bundle.ts";
import { WORKER_SCRIPT, WORKER_SCRIPT_SHA256 } from "./worker-page-bundle.ts";
import { PAGE_DATA_ELEMENT_ID, WORKER_ELEMENT_ID, WORKER_POLICY_NAME, type PageData } from "./page-data.ts";

/** A page that consists of one file: the script, the style, and the data are part of the HTML. */
export function renderSingleFilePage(data: PageData, title: string): string {
  const policy = renderPolicy({
    script: `'sha256-${RECORD_SCRIPT_SHA256}'`,
    worker: "blob:",
    style: `'sha256-${PAGE_STYLE_SHA256}'`,
    connects: data.mode === "watch",
  });
  return renderHtml(
    title,
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<style>${PAGE_STYLE}</style>`,
    `<script type="application/json" id="${PAGE_DATA_ELEMENT_ID}">${encodeEmbeddedJson(data)}</script>
<script type="text/plain" id="${WORKER_ELEMENT_ID}">${WORKER_SCRIPT}</script>
<script type="module">${RECORD_SCRIPT}</script>`,
  );
}

/** A page whose script and style are files of a server. */
export interface ServedPage {
  readonly html: string;
  /** Value of the header `content-security-policy`. Without the header, the page is less protected. */
  readonly contentSecurityPolicy: string;
  /** Files by their path relative to the page. Their names contain a hash, so that browsers may keep them forever. */
  readonly assets: ReadonlyMap<string, { readonly contentType: string; readonly body: string }>;
}

/** Renders the page of a console, which reads its data from the API below the page's URL. */
export function renderServedPage(title: string): ServedPage {
  const self = "'self'";
  const script = `assets/console-${shortenHash(CONSOLE_SCRIPT_SHA256)}.js`;
  const worker = `assets/worker-${shortenHash(WORKER_SCRIPT_SHA256)}.js`;
  const style = `assets/page-${shortenHash(PAGE_STYLE_SHA256)}.css`;
  return {
    html: renderHtml(
      title,
      "",
      `<link rel="stylesheet" href="${style}">`,
      `<script type="text/plain" id="${WORKER_ELEMENT_ID}" data-url="${worker}"></script>
<script type="module" src="${script}"></script>`,
    ),
    contentSecurityPolicy: `${renderPolicy({ script: self, worker: self, style: self, connects: true })}; frame-ancestors 'none'`,
    assets: new Map([
      [script, { contentType: "text/javascript; charset=utf-8", body: CONSOLE_SCRIPT }],
      [worker, { contentType: "text/javascript; charset=utf-8", body: WORKER_SCRIPT }],
      [style, { contentType: "text/css; charset=utf-8", body: PAGE_STYLE }],
    ]),
  };
}

function renderHtml(title: string, policy: string, style: string, scripts: string): string {
  return `<!doctype html>
<!--
${PAGE_NOTICES}
-->
<html lang="en">
<head>
<meta charset="utf-8">
${policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
${style}
</head>
<body>
<div id="app"></div>
<noscript><p>This page requires JavaScript. Enable JavaScript and reload the page.</p></noscript>
${scripts}
</body>
</html>
`;
}

/** The sources that a page may load, and whether it sends requests to its server. */
interface PageSources {
  readonly script: string;
  readonly worker: string;
  readonly style: string;
  readonly connects: boolean;
}

/** Images and frames show the bytes of artifacts. A frame inherits the policy, and is also sandboxed. */
function renderPolicy({ script, worker, style, connects }: PageSources): string {
  return [
    "default-src 'none'",
    `script-src ${script}`,
    `worker-src ${worker}`,
    `style-src ${style}`,
    "img-src data: blob:",
    "media-src blob:",
    "frame-src blob:",
    ...(connects ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types dompurify ${WORKER_POLICY_NAME}`,
  ].join("; ");
}

function shortenHash(hash: string): string {
  return hash.replaceAll(/[^a-z0-9]/gi, "").slice(0, 12);
}

/** Encodes data as JSON, with escapes for HTML markup and Unicode line separators. */
function encodeEmbeddedJson(data: PageData): string {
  return JSON.stringify(data)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
