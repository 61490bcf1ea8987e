/**
 * Returns whether a reference names a local file or folder, and not a host. Without this rule, a folder of another
 * person could replace `agent.example.com` by a file or folder with that name. A reference is a path if it starts
 * with `/`, `./`, `../`, or a drive, if it is a single name with an extension from `extensionPattern`, or if its
 * first segment cannot be a public host name.
 */
export function isLocalPath(ref: string, extensionPattern: RegExp): boolean {
  if (/^(?:\.{1,2}(?:[\\/]|$)|[\\/]|[A-Za-z]:[\\/])/.test(ref)) return true;
  const [first = ""] = ref.split(/[\\/]/);
  if (first === ref && extensionPattern.test(ref)) return true;
  return !/[.:]/.test(first) && first.toLowerCase() !== "localhost";
}
