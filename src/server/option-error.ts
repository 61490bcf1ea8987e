/** Creates the error for an option with an invalid value. `advice` names a valid value. */
export function createOptionError(name: string, value: unknown, advice: string): Error {
  return new Error(`${JSON.stringify(name)} is ${JSON.stringify(value)}; ${advice}.`);
}

/** Returns true for an absolute HTTP URL without a query and without a fragment. */
export function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return (url?.protocol === "https:" || url?.protocol === "http:") && url.search === "" && url.hash === "";
}
