import { request } from "node:http";
import { A2AError, type ErrorReason } from "../../protocol/index.ts";
import { readMaintenanceAddress, type MaintenanceAddress, type StoreInfo } from "../../server/index.ts";
import { CliError } from "../cli-error.ts";

/** Operations of a maintenance socket (`server/maintenance/maintenance-socket.ts`). */
type MaintenanceOperationName = "info" | "sweep" | "compact" | "erase" | "backup";

/**
 * Time limit in milliseconds for the reply to `info`, which takes a server a few milliseconds. A stopped process
 * accepts connections, but does not reply.
 */
const INFO_TIME_LIMIT_MS = 2000;

/** Error codes of a connection to a process that has ended. */
const GONE_CODES = ["ENOENT", "ECONNREFUSED", "ECONNRESET"];

/** A server that uses a store. `info` is absent if the server does not reply in time. */
interface StoreServer {
  readonly address: MaintenanceAddress;
  readonly info?: StoreInfo;
}

/** Resolves with `undefined` if no server with a maintenance socket uses the store. */
export async function findStoreServer(storeFile: string): Promise<StoreServer | undefined> {
  const address = readMaintenanceAddress(storeFile);
  if (!address) return undefined;
  const timeLimit = AbortSignal.timeout(INFO_TIME_LIMIT_MS);
  try {
    return { address, info: (await postToMaintenanceSocket(address, "info", {}, timeLimit)) as StoreInfo };
  } catch (error) {
    if (timeLimit.aborted) return { address };
    if (GONE_CODES.includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/**
 * Calls an operation of the server that uses the store. Resolves with `undefined` if no server with a
 * maintenance socket uses the store. Rejects if the server does not respond.
 */
export async function callMaintenanceIfServed<T>(
  storeFile: string,
  operation: MaintenanceOperationName,
  body: object = {},
): Promise<T | undefined> {
  const server = await findStoreServer(storeFile);
  if (!server) return undefined;
  const { address, info } = server;
  if (info) return (await postToMaintenanceSocket(address, operation, body)) as T;
  throw new CliError(
    "A2ACLI_ERR_UNREACHABLE",
    `The server of ${storeFile}, process ${address.pid}, does not respond.`,
    "Continue or stop the process, and run the command again.",
  );
}

function postToMaintenanceSocket(
  { socket, token }: MaintenanceAddress,
  operation: MaintenanceOperationName,
  body: object,
  signal?: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        socketPath: socket,
        method: "POST",
        path: `/${operation}`,
        signal,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        incoming.on("error", reject).on("end", () => {
          const answer: unknown = JSON.parse(text);
          if (incoming.statusCode === 200) return resolve(answer);
          const { error } = answer as { error: { reason: ErrorReason; message: string } };
          reject(new A2AError(error.reason, error.message));
        });
      },
    );
    outgoing.on("error", reject).end(JSON.stringify(body));
  });
}
