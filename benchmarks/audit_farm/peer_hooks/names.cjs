// Put before a Node.js tool: the farm's names lead to the farm, others nowhere.
"use strict";
const dns = require("dns");
const names = JSON.parse(require("fs").readFileSync(process.env.GOSSAMER_FARM_NAMES, "utf8"));
const ask = dns.lookup;
const fail = (code, name) =>
  Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code, errno: -3008, syscall: "getaddrinfo", hostname: name });

dns.lookup = function lookup(name, options, done) {
  if (typeof options === "function") [options, done] = [{}, options];
  if (typeof options === "number") options = { family: options };
  if (/^[0-9.]+$/.test(name) || name === "localhost") return ask(name, options, done);
  const found = names[name.toLowerCase()];
  if (!found) return process.nextTick(done, fail(found === "" ? "EAI_AGAIN" : "ENOTFOUND", name));
  const given = options && options.all ? [[{ address: found, family: 4 }]] : [found, 4];
  return process.nextTick(done, null, ...given);
};
