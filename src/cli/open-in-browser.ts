import { spawn } from "node:child_process";

const OPEN_COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens a file or a URL with the default program of the operating system. If the system has no command for it, such as
 * a server, the function calls `onFailure` with an explanation.
 */
export function openInBrowser(target: string, onFailure?: (explanation: string) => void): void {
  const [command, ...words] = OPEN_COMMANDS[process.platform] ?? ["xdg-open"];
  // The target is an argument of the command, and reaches no shell.
  const opened = spawn(command, [...words, target], { stdio: "ignore", detached: true });
  opened.on("error", () => onFailure?.(`No browser can be opened. Open ${target} yourself.`));
  opened.unref();
}
