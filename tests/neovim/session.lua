-- One editing session in a real Neovim, without a screen: open a file, wait for its diagnostics, choose a quick-fix by
-- its title, write the file, wait until the server has nothing more to say. What was seen goes to $REPORT as JSON.
local report = { version = tostring(vim.version and vim.version() or ""), before = {}, after = {}, actions = {}, errors = {} }
if vim.version then
  local version = vim.version()
  report.version = ("%d.%d.%d"):format(version.major, version.minor, version.patch)
end

local function finish()
  local file = assert(io.open(vim.env.REPORT, "w"))
  file:write((vim.json and vim.json.encode or vim.fn.json_encode)(report))
  file:close()
  vim.cmd("qall!")
end

local function wait_for(what, condition)
  if not vim.wait(tonumber(vim.env.SECONDS) * 1000, condition, 20) then
    table.insert(report.errors, "no " .. what .. " in " .. vim.env.SECONDS .. " s")
    finish()
  end
end

local function clients()
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)()
end

local function diagnostics()
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, {
      line = diagnostic.lnum + 1,
      column = diagnostic.col + 1,
      end_line = diagnostic.end_lnum + 1,
      end_column = diagnostic.end_col + 1,
      severity = vim.diagnostic.severity[diagnostic.severity],
      source = diagnostic.source,
      code = diagnostic.code or vim.tbl_get(diagnostic, "user_data", "lsp", "code"),
      message = diagnostic.message,
    })
  end
  return found
end

-- What a person does in the menu of code actions.
vim.ui.select = function(items, options, choose)
  for index, item in ipairs(items) do
    local title = options.format_item and options.format_item(item) or tostring(item)
    table.insert(report.actions, title)
    if title:find(vim.env.TITLE, 1, true) then
      choose(item, index)
      return
    end
  end
  choose(nil)
end

local notify = vim.notify
vim.notify = function(message, level, ...)
  if level and level >= vim.log.levels.ERROR then
    table.insert(report.errors, message)
  end
  return notify(message, level, ...)
end

local ok, problem = pcall(function()
  vim.opt.runtimepath:prepend(vim.env.STEPZERO_SOURCE .. "/editors/neovim")
  vim.cmd("filetype on")
  if vim.env.ENABLE == "lsp" then -- what the README says for 0.11: no setup()
    vim.lsp.config("stepzero", { cmd = { vim.env.STEPZERO, "lsp" } })
    vim.lsp.enable("stepzero")
  else
    require("stepzero").setup({ cmd = { vim.env.STEPZERO, "lsp" } })
  end
  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.FILE))
  wait_for("client", function() return #clients() == 1 end)
  report.root = clients()[1].config.root_dir
  wait_for("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
  report.before = diagnostics()

  local first = report.before[1]
  vim.api.nvim_win_set_cursor(0, { first.line, first.column - 1 })
  local tick = vim.b.changedtick
  vim.lsp.buf.code_action()
  wait_for("edit", function() return vim.b.changedtick ~= tick end)
  vim.cmd("write")
  wait_for("end of the diagnostics", function() return #vim.diagnostic.get(0) == 0 end)
  report.after = diagnostics()

  local client = clients()[1]
  client.stop(client)
  wait_for("end of the server", function() return #clients() == 0 end)
end)
if not ok then
  table.insert(report.errors, tostring(problem))
end
finish()
