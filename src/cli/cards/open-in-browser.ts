import { spawn } from "node:child_process";

/**
 * Opens a file or a URL with the system's default program. `failed` is called when no such program exists.
 */
export function openInBrowser(target: string, failed: (why: string) => void): void {
  const [program, ...words] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler"]
        : ["xdg-open"];
  const child = spawn(program ?? "xdg-open", [...words, target], { stdio: "ignore", detached: true });
  child.on("error", () => failed(`No browser can be opened. Open ${target} yourself.`));
  child.unref();
}
