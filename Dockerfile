# Image of a node that serves the agents in /app/agents. See docs/operations.md.
#
#   docker build -t my-agents .
#   docker run -p 127.0.0.1:4120:4120 -e COLLOQUY_TOKEN="$(openssl rand -hex 16)" my-agents
#
# The build uses only files of this repository. Replace deploy/agents with your own agents.

FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node lab/package/main.ts

FROM node:24-slim AS install
WORKDIR /app
COPY --from=build /src/reports/package/colloquy-*.tgz /tmp/
# Add the packages that your agents import.
RUN npm init --yes > /dev/null && npm install --ignore-scripts /tmp/colloquy-*.tgz pg@8

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=install /app ./
COPY deploy/agents agents
USER node
EXPOSE 4120
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4120/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without a shell, the server receives SIGTERM. The running agents then have the time of --drain to end. By default,
# Docker kills a container 10 seconds after SIGTERM.
ENTRYPOINT ["node", "node_modules/colloquy/bin/colloquy.js"]
CMD ["serve", "agents", "--host", "0.0.0.0", "--port", "4120", "--store", "memory", "--auth-token-env", "COLLOQUY_TOKEN", "--drain", "5s"]
