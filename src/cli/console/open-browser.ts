import { spawn } from "node:child_process";

const OPEN_COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a URL in the default browser. Does nothing if the system has no command for it, such as a server. */
export function openBrowser(url: string): void {
  const [command, ...words] = OPEN_COMMANDS[process.platform] ?? ["xdg-open"];
  // The URL is an argument of the command, and reaches no shell.
  const opened = spawn(command, [...words, url], { stdio: "ignore", detached: true });
  opened.on("error", () => {});
  opened.unref();
}
