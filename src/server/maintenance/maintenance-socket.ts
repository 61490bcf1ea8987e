import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isSameSecret } from "../../base/data-structures/index.ts";
import type { TaskSelector } from "../../stores/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { StoreMaintenance } from "./store-maintenance.ts";

/** Maximum length of a socket path in bytes. The kernel's limit is 104 bytes on macOS, and 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 100;
const MAX_REQUEST_BYTES = 64 * 1024;

/** Content of the file that tells the CLI how to reach the server of a store. */
export interface MaintenanceAddress {
  readonly pid: number;
  /** Path of the Unix socket, or name of the Windows pipe. */
  readonly socket: string;
  /** Secret that each request must send as a bearer token. */
  readonly token: string;
}

export interface MaintenanceSocket {
  close(): Promise<void>;
}

type MaintenanceOperation = (maintenance: StoreMaintenance, body: unknown) => Promise<unknown>;

const OPERATIONS_BY_PATH: Readonly<Record<string, MaintenanceOperation>> = {
  "/info": (maintenance) => maintenance.readInfo(),
  "/sweep": (maintenance) => maintenance.sweep(),
  "/compact": (maintenance) => maintenance.compact(),
  "/erase": (maintenance, body) => maintenance.eraseTasks(decodeTaskSelector(body)),
  "/backup": (maintenance, body) => maintenance.backUp(decodeBackupTarget(body)),
};

/** Returns the path of the file with the `MaintenanceAddress` of the store's server. */
function getMaintenanceAddressPath(storeFile: string): string {
  return `${storeFile}-maintenance`;
}

/** Reads the address of the server that has opened the store, or returns `undefined` if there is none. */
export function readMaintenanceAddress(storeFile: string): MaintenanceAddress | undefined {
  try {
    return JSON.parse(readFileSync(getMaintenanceAddressPath(storeFile), "utf8")) as MaintenanceAddress;
  } catch {
    return undefined;
  }
}

/**
 * Starts an HTTP server on a local socket, through which `colloquy store` reaches the process that has locked
 * the store. Only the user of the server can connect: the socket and the file with the token have mode 0600.
 */
export async function startMaintenanceSocket(
  storeFile: string,
  maintenance: StoreMaintenance,
): Promise<MaintenanceSocket> {
  const token = randomBytes(32).toString("base64url");
  const { socket, folder } = chooseSocketPath(storeFile);
  const addressPath = getMaintenanceAddressPath(storeFile);
  const http = createServer((request, response) => void answerRequest(request, response, token, maintenance));
  const close = async (): Promise<void> => {
    // After the loss of the store's file, another server may already use the path.
    if (readMaintenanceAddress(storeFile)?.token === token) rmSync(addressPath, { force: true });
    await new Promise((resolve) => {
      http.close(resolve);
      http.closeAllConnections();
    });
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  // The store's lock guarantees that no other server uses the socket of an earlier process.
  if (process.platform !== "win32") rmSync(socket, { force: true });
  rmSync(addressPath, { force: true });
  await listenOnSocket(http, socket);
  http.unref();
  if (process.platform !== "win32") chmodSync(socket, 0o600);
  const address: MaintenanceAddress = { pid: process.pid, socket, token };
  writeFileSync(addressPath, JSON.stringify(address), { mode: 0o600, flag: "wx" });
  return { close };
}

function listenOnSocket(http: Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject);
    http.listen(socket, resolve);
  });
}

/** Chooses a path next to the store, or a private temporary folder if that path is too long for a socket. */
function chooseSocketPath(storeFile: string): { socket: string; folder?: string } {
  if (process.platform === "win32")
    return { socket: `\\\\.\\pipe\\colloquy-${randomBytes(16).toString("hex")}` };
  const socket = `${storeFile}-socket`;
  if (Buffer.byteLength(socket) <= MAX_SOCKET_PATH_BYTES) return { socket };
  const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
  return { socket: join(folder, "socket"), folder };
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  maintenance: StoreMaintenance,
): Promise<void> {
  try {
    assertAuthorized(request.headers.authorization ?? "", `Bearer ${token}`);
    const operation = OPERATIONS_BY_PATH[request.url ?? ""];
    if (!operation || request.method !== "POST")
      throw new A2AError("UNSUPPORTED_OPERATION", `${request.url} is no maintenance operation.`);
    const result = await operation(maintenance, await readJsonBody(request));
    sendJson(response, 200, result);
  } catch (thrown) {
    const { reason, message } = A2AError.from(thrown);
    sendJson(response, reason === "UNAUTHENTICATED" ? 401 : 400, { error: { reason, message } });
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function assertAuthorized(given: string, expected: string): void {
  if (isSameSecret(given, expected)) return;
  throw new A2AError(
    "UNAUTHENTICATED",
    "The maintenance token is wrong; read it from the -maintenance file.",
  );
}

async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk as string;
    if (text.length > MAX_REQUEST_BYTES)
      throw new A2AError("PAYLOAD_TOO_LARGE", "The maintenance request is too large.");
  }
  return text === "" ? {} : JSON.parse(text);
}

function decodeBackupTarget(body: unknown): string {
  const target = typeof body === "object" && body !== null && "target" in body ? body.target : undefined;
  if (typeof target === "string" && isAbsolute(target)) return target;
  throw A2AError.invalidParams([{ field: "target", description: "is no absolute path" }]);
}

const SELECTOR_MEMBERS = ["taskId", "contextId", "principal", "tenant", "agent"] as const;

/** Decodes a selector. Rejects unknown members, because a misspelled member would select more tasks. */
function decodeTaskSelector(body: unknown): TaskSelector {
  if (typeof body !== "object" || body === null)
    throw A2AError.invalidParams([{ field: "selector", description: "the selector is not an object" }]);
  for (const [name, value] of Object.entries(body))
    if (!SELECTOR_MEMBERS.some((known) => known === name) || typeof value !== "string")
      throw A2AError.invalidParams([{ field: name, description: "is no text member of a selector" }]);
  return body;
}
