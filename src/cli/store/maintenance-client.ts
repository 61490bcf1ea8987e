import { request } from "node:http";
import { A2AError, type ErrorReason } from "../../protocol/index.ts";
import { readMaintenanceAddress, type MaintenanceAddress } from "../../server/index.ts";

/** Operations of a maintenance socket (`server/maintenance/maintenance-socket.ts`). */
type MaintenanceOperationName = "info" | "sweep" | "compact" | "erase";

/** Error codes of a connection to a process that has ended. */
const GONE_CODES = ["ENOENT", "ECONNREFUSED", "ECONNRESET"];

/**
 * Calls an operation of the server that uses the store. Resolves with `undefined` if no server with a
 * maintenance socket uses the store.
 */
export async function callMaintenanceIfServed<T>(
  storeFile: string,
  operation: MaintenanceOperationName,
  body: object = {},
): Promise<T | undefined> {
  const address = readMaintenanceAddress(storeFile);
  if (!address) return undefined;
  try {
    return (await postToMaintenanceSocket(address, operation, body)) as T;
  } catch (error) {
    if (GONE_CODES.includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

function postToMaintenanceSocket(
  { socket, token }: MaintenanceAddress,
  operation: MaintenanceOperationName,
  body: object,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        socketPath: socket,
        method: "POST",
        path: `/${operation}`,
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
