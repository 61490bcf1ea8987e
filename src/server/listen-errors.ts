/** Advice by the code of an error that `listen` of `node:http` reports. */
const LISTEN_ERROR_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "another process uses the port; stop that process, or choose another port (0 for any free port)",
  EACCES: "the port requires more permissions; choose a port above 1023",
  EADDRNOTAVAIL: "this machine does not have the address; use 127.0.0.1, or 0.0.0.0 for all addresses",
  ENOTFOUND: "the host name is unknown; use 127.0.0.1, or 0.0.0.0 for all addresses",
};

/** Adds advice to an error of the HTTP listener, and keeps the code of the error. */
export function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const { code = "" } = error;
  const advice = LISTEN_ERROR_ADVICE[code];
  if (advice === undefined) return error;
  const text = `The server cannot listen on ${host}:${port}: ${advice}.`;
  return Object.assign(new Error(text, { cause: error }), { code });
}
