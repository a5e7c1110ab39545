-- :checkhealth stepzero
local M = {}

local health = vim.health or require("health")
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local info = health.info or health.report_info
local warn = health.warn or health.report_warn
local fail = health.error or health.report_error

local function command()
  local stepzero = require("stepzero")
  if stepzero.cmd then
    return stepzero.cmd
  end
  local configured = vim.lsp.config and vim.lsp.config.stepzero
  return configured and configured.cmd or { "stepzero", "lsp" }
end

local function program()
  local cmd = command()
  if type(cmd) ~= "table" then
    info("the server is started by a function of yours")
    return
  end
  if vim.fn.executable(cmd[1]) == 0 then
    fail("there is no program `" .. cmd[1] .. "`", {
      "install stepzero so that it is on the PATH, or name it: require('stepzero').setup({ cmd = { '/path/to/stepzero', 'lsp' } })",
    })
    return
  end
  local version = vim.trim(vim.fn.system({ cmd[1], "--version" }))
  if vim.v.shell_error ~= 0 then
    fail("`" .. cmd[1] .. " --version` fails: " .. version)
  else
    ok(vim.fn.exepath(cmd[1]) .. ": " .. version)
  end
end

local function server()
  local clients = require("stepzero").clients()
  if #clients == 0 then
    info("no server runs: it starts with the first Python file, after vim.lsp.enable('stepzero') or setup()")
  end
  for _, client in ipairs(clients) do
    ok("running in " .. tostring(client.config.root_dir))
    info("positions are counted in " .. tostring(client.offset_encoding))
  end
end

function M.check()
  start("stepzero")
  if vim.fn.has("nvim-0.7") == 0 then
    fail("Neovim 0.7 or newer is needed")
    return
  end
  program()
  server()
  if vim.lsp.inlay_hint then
    ok("this Neovim shows inlay hints")
  else
    warn("this Neovim shows no inlay hints: they came with 0.10")
  end
end

return M
