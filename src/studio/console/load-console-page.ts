import type { ConsolePage } from "./console-page.ts";

/** Loads the page of the console, which is large, with the first request for the page. */
export async function loadConsolePage(title: string): Promise<ConsolePage> {
  const { renderServedPage } = await import("../pages/index.ts");
  return renderServedPage(title);
}
