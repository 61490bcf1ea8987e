/**
 * The `colloquy/cards` entry point exports the card protocol and its roles. The entry point also exports
 * experiments, which run the roles on datasets.
 */
export * from "../cards/public.ts";
export * from "../cards/roles/public.ts";
export { type HtmlReportOptions, renderHtmlReport } from "../studio/pages/index.ts";
export * from "../cards/experiments/public.ts";
