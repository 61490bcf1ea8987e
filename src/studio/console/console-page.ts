import { gzipSync } from "node:zlib";
import { API_HEADERS } from "./console-response.ts";

/** The page of the console, and the files that the page loads. `renderServedPage` of the room `pages` creates it. */
export interface ConsolePage {
  readonly html: string;
  /** Value of the header `content-security-policy`. */
  readonly contentSecurityPolicy: string;
  /** Files by their path relative to the page. Their names contain a hash of their content. */
  readonly assets: ReadonlyMap<string, { readonly contentType: string; readonly body: string }>;
}

/** Returns the page or one of its files, or `undefined` for other paths. The page is public, because it has no data. */
export function findPageResponse(
  page: ConsolePage,
  path: string,
  { headers }: Pick<Request, "headers">,
): Response | undefined {
  if (path === "")
    return createTextResponse(page.html, headers, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": page.contentSecurityPolicy,
      "cross-origin-opener-policy": "same-origin",
    });
  const asset = page.assets.get(path);
  if (!asset) return undefined;
  const { contentType, body } = asset;
  const cacheControl = "public, max-age=31536000, immutable";
  return createTextResponse(body, headers, { "content-type": contentType, "cache-control": cacheControl });
}

/** The compressed texts of pages and their files, which do not change. */
const compressedTexts = new Map<string, Uint8Array<ArrayBuffer>>();

function createTextResponse(
  text: string,
  requestHeaders: Headers,
  responseHeaders: Readonly<Record<string, string>>,
): Response {
  const headers = { ...API_HEADERS, ...responseHeaders, vary: "accept-encoding" };
  if (!/\bgzip\b/.test(requestHeaders.get("accept-encoding") ?? "")) return new Response(text, { headers });
  const compressed = compressedTexts.get(text) ?? new Uint8Array(gzipSync(text, { level: 9 }));
  compressedTexts.set(text, compressed);
  return new Response(compressed, { headers: { ...headers, "content-encoding": "gzip" } });
}
