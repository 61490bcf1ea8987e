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
export function findPageResponse(page: ConsolePage, path: string): Response | undefined {
  if (path === "")
    return new Response(page.html, {
      headers: {
        ...API_HEADERS,
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": page.contentSecurityPolicy,
        "cross-origin-opener-policy": "same-origin",
      },
    });
  const asset = page.assets.get(path);
  if (!asset) return undefined;
  const { contentType, body } = asset;
  const cacheControl = "public, max-age=31536000, immutable";
  return new Response(body, {
    headers: { ...API_HEADERS, "content-type": contentType, "cache-control": cacheControl },
  });
}
