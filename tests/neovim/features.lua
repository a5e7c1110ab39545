-- What else the plugin brings, in one session: inlay hints, :checkhealth, :help, fix-all before writing, :StepzeroSchedule.
-- What was seen goes to $REPORT as JSON.
local report = { hints = {}, errors = {}, notified = {} }

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

vim.notify = function(message) table.insert(report.notified, message) end

local function lines(buffer) return table.concat(vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false), "\n") end

local ok, problem = pcall(function()
  local version = vim.version()
  report.version = ("%d.%d.%d"):format(version.major, version.minor, version.patch)
  vim.opt.runtimepath:prepend(vim.env.STEPZERO_SOURCE .. "/editors/neovim")
  vim.cmd("filetype on")
  vim.cmd("runtime plugin/stepzero.lua")
  local stepzero = require("stepzero")
  vim.cmd("StepzeroSchedule") -- nothing runs yet
  stepzero.setup({ cmd = { vim.env.STEPZERO, "lsp" } })

  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.SHAPES))
  wait_for("client", function() return #stepzero.clients() == 1 end)
  if vim.lsp.inlay_hint then
    wait_for("hints", function() return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 0 end)
    for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = 0 })) do
      local label = hint.inlay_hint.label
      table.insert(report.hints, type(label) == "string" and label or label[1].value)
    end
  end

  vim.cmd("checkhealth stepzero")
  report.health = lines()
  vim.cmd("bwipeout!")
  vim.cmd("help :StepzeroSchedule")
  report.help = vim.api.nvim_get_current_line()
  vim.cmd("helpclose")

  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.FILE))
  wait_for("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
  local code = vim.api.nvim_get_current_buf()
  vim.cmd("StepzeroSchedule")
  local function page()
    local buffer = vim.fn.bufnr("stepzero://schedule")
    return buffer ~= -1 and vim.fn.bufwinid(buffer) ~= -1 and lines(buffer)
  end
  wait_for("schedule", function() return page() or #report.notified > 1 end)
  report.schedule = page() or nil
  report.folds = {}
  if page() then
    vim.api.nvim_win_call(vim.fn.bufwinid(vim.fn.bufnr("stepzero://schedule")), function()
      for line = 1, vim.fn.line("$") do
        table.insert(report.folds, vim.fn.foldlevel(line))
      end
      report.closed = vim.fn.foldclosed(1)
    end)
  end
  report.same_window = vim.api.nvim_get_current_buf() == code

  vim.api.nvim_create_autocmd("BufWritePre", { pattern = "*.py", callback = function() stepzero.fix_all() end })
  vim.api.nvim_win_set_cursor(0, { 5, 3 })
  vim.cmd("write")
  report.cursor = vim.api.nvim_win_get_cursor(0)
  report.modified = vim.bo.modified
  vim.cmd("silent undo")
  report.undone = lines()
end)
if not ok then
  table.insert(report.errors, tostring(problem))
end
finish()
