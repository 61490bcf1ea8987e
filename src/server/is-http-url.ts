/** Returns true for an absolute HTTP URL without a query and without a fragment. */
export function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return (url?.protocol === "https:" || url?.protocol === "http:") && url.search === "" && url.hash === "";
}
