-- A program and its configuration in one Neovim: a misspelled key is underlined in the configuration, its fix is taken from the menu, and
-- what the program was told because of it goes, before anything is written. What was seen goes to $REPORT as JSON.
local report = { program = {}, configuration = {}, left = {}, actions = {}, errors = {}, hover = "" }

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

local function diagnostics(buffer)
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(found, { line = each.lnum + 1, column = each.col + 1, end_column = each.end_col + 1, code = each.code or vim.tbl_get(each, "user_data", "lsp", "code"),
      severity = vim.diagnostic.severity[each.severity] })
  end
  return found
end

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

local ok, problem = pcall(function()
  vim.opt.runtimepath:prepend(vim.env.STEPZERO_SOURCE .. "/editors/neovim")
  vim.o.hidden = true
  vim.cmd("filetype on")
  require("stepzero").setup({ cmd = { vim.env.STEPZERO, "lsp" } })
  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.FILE))
  local program = vim.api.nvim_get_current_buf()
  wait_for("diagnostics of the program", function() return #vim.diagnostic.get(program) > 0 end)
  report.program = diagnostics(program)

  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.CONFIGURATION))
  local configuration = vim.api.nvim_get_current_buf()
  wait_for("diagnostics of the configuration", function() return #vim.diagnostic.get(configuration) > 0 end)
  report.configuration = diagnostics(configuration)
  local first = report.configuration[1]
  vim.api.nvim_win_set_cursor(0, { first.line, first.column - 1 })
  local tick = vim.b.changedtick
  vim.lsp.buf.code_action()
  wait_for("edit", function() return vim.b.changedtick ~= tick end)
  wait_for("end of the configuration's diagnostics", function() return #vim.diagnostic.get(configuration) == 0 end)
  wait_for("end of the program's diagnostics", function() return #vim.diagnostic.get(program) == 0 end)
  report.modified = vim.bo[configuration].modified
  report.text = table.concat(vim.api.nvim_buf_get_lines(configuration, 0, -1, false), "\n")
  local answers = vim.lsp.buf_request_sync(configuration, "textDocument/hover", vim.lsp.util.make_position_params(0, "utf-16"), 5000)
  for _, answer in pairs(answers or {}) do
    local contents = answer.result and answer.result.contents
    report.hover = contents and (contents.value or tostring(contents)) or ""
  end
end)
if not ok then
  table.insert(report.errors, tostring(problem))
end
finish()
