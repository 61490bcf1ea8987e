/**
 * A RECORDING AS A PAGE: one HTML file with everything in it. `htmlOf` is pure; what runs in the browser is in `page/`,
 * checked against the DOM's types there and put into `page-bundle.ts` by `npm run page`.
 */
export { htmlOf, type HtmlOptions, liveHtmlOf } from "./html-of.ts";
