import { spawn } from "node:child_process";

/**
 * Opens a file or a URL with the default program of the operating system. The function calls `failed` if the
 * operating system has no program for opening files.
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
